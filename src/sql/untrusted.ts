import type { ResultColumn } from '../contract/index.ts';
import { eachCell } from './rows.ts';
import type { RowSet } from './rows.ts';

/** Types of all four engines that cannot hold text: numbers, booleans, times, UUIDs. */
const scalar =
  /^(?:u?(?:tiny|small|big|huge)?int(?:eger)?\d*|bignum|float\d*|double(?: precision)?|real|b?float|(?:big)?(?:decimal|numeric)\d*(?:\([\d, ]*\))?|bool(?:ean)?|timestamp(?:tz|_s|_ms|_ns)?(?:\(\d+\))?(?: with(?:out)? time zone)?|date\d*|datetime(?:64)?(?:\([^()]*\))?|time(?:tz)?(?:\(\d+\))?(?: with(?:out)? time zone)?|interval\w*|uuid|nothing)$/;

/** ClickHouse and BigQuery write wrappers around a type. */
const wrapper = /^(?:nullable|lowcardinality|array)[(<](.*)[)>]$/;

/**
 * Our own text columns and all that the receiver lets stand in them. A column is believed by what is in it, not by its
 * name alone: `SELECT body AS kind` must not lose its mark.
 */
const ownText: Readonly<Record<string, RegExp>> = {
  trace_id: /^[0-9a-f]{0,32}$/,
  span_id: /^[0-9a-f]{0,16}$/,
  parent_span_id: /^[0-9a-f]{0,16}$/,
  kind: /^(?:INTERNAL|SERVER|CLIENT|PRODUCER|CONSUMER|UNSPECIFIED)?$/,
  status_code: /^(?:UNSET|OK|ERROR)?$/,
  type: /^(?:gauge|sum|histogram|exponential_histogram|summary)?$/,
  aggregation_temporality: /^(?:delta|cumulative)?$/,
};

/** More than all tables have together; looking into every cell of thousands would hold up the process. */
const mostClaims = 32;

/** For each column, whether it may carry text written by a stranger. In doubt it does. */
export function untrustedColumns(columns: readonly ResultColumn[], rows: RowSet): boolean[] {
  const untrusted = columns.map((column) => !isScalar(column.type));
  const claims = new Map<number, RegExp>();
  columns.forEach((column, index) => {
    const own = Object.hasOwn(ownText, column.name) ? ownText[column.name] : undefined;
    if (untrusted[index] === true && own !== undefined) claims.set(index, own);
  });
  if (claims.size === 0 || claims.size > mostClaims) return untrusted;
  const { json } = rows;
  const idLengths = columns.map(({ name }) => ids.get(name));
  const disprove = (start: number, end: number, column: number): boolean => {
    if (end - start === idLengths[column] && isHex(json, start, end)) return true;
    if (claims.get(column)?.test(content(json.subarray(start, end))) === false) claims.delete(column);
    return claims.size > 0;
  };
  eachCell(rows, disprove, (column) => claims.has(column));
  for (const column of claims.keys()) untrusted[column] = false;
  return untrusted;
}

/** How long nearly all cells of these columns are, quotes too: they are told without making text of them. */
const ids: ReadonlyMap<string, number> = new Map([
  ['trace_id', 34],
  ['span_id', 18],
  ['parent_span_id', 18],
]);
const quote = 0x22;

function isHex(json: Buffer, start: number, end: number): boolean {
  if (json[start] !== quote || json[end - 1] !== quote) return false;
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = json[at] ?? 0;
    if (!((byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66))) return false;
  }
  return true;
}

/** There are few types, but for those that a statement composes. */
const known = new Map<string, boolean>();
const mostKnown = 500;
const longestKnown = 100;

function isScalar(type: string): boolean {
  const before = known.get(type);
  if (before !== undefined) return before;
  const found = readScalar(type);
  if (known.size < mostKnown && type.length <= longestKnown) known.set(type, found);
  return found;
}

function readScalar(type: string): boolean {
  let inner = type.toLowerCase().trim();
  for (;;) {
    const unwrapped = wrapper.exec(inner)?.[1] ?? inner.replace(/\[\d*\]$/, '');
    if (unwrapped === inner) return scalar.test(inner);
    inner = unwrapped.trim();
  }
}

/** The text of a short string cell, '' for NULL; of anything else something that no pattern takes. */
function content(cell: Buffer): string {
  if (cell.length > 64) return '?';
  const text = cell.toString('latin1').trim();
  if (text === 'null') return '';
  return text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : '?';
}
