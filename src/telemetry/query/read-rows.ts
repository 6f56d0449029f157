import type { Cursor, CursorEnd, QueryLimits, ResultColumn } from '../../contract/telemetry/index.ts';
import { type CellWatch, RowCollector } from './row-collector.ts';
import { within } from '../../contract/core/index.ts';
import { DeadlineEnded, type Deadline } from './deadline.ts';
import type { RowSet } from './result.ts';

export interface ReadRows {
  readonly columns: readonly ResultColumn[];
  /** Of each, whether it may carry text written by a stranger. */
  readonly untrusted: readonly boolean[];
  readonly rows: RowSet;
  readonly end: CursorEnd;
  /** The plugin sent more than it was told to. */
  readonly overran: boolean;
}

/** How long reading goes on once there is enough to return. */
const readAheadMs = 1000;

/**
 * Reads a cursor up to `readTo`, even if the plugin ignores its limits. Past `returned` it reads ahead for a second at most,
 * and a failure there only ends the read-ahead.
 */
export async function readRows(
  cursor: Cursor,
  returned: QueryLimits,
  readTo: QueryLimits,
  deadline: Deadline,
): Promise<ReadRows> {
  const collector = new RowCollector(readTo);
  let untrusted: UntrustedColumns | undefined;
  let enoughAt: number | undefined;
  const stop = (): ReadRows => ({
    columns: cursor.columns,
    untrusted: untrusted?.marks ?? [],
    rows: collector.rowSet(),
    end: {
      ...(collector.full === undefined ? { truncated: 'rows' } : { truncated: collector.full }),
      cutCells: collector.cutCells,
    },
    overran: collector.full !== undefined || collector.cutCells > 0,
  });
  for (;;) {
    let chunk;
    try {
      const reading = cursor.read();
      if (!(reading instanceof Promise)) chunk = reading;
      else if (enoughAt === undefined) chunk = await deadline.race(reading);
      else {
        const ms = Math.max(0, enoughAt + readAheadMs - performance.now());
        chunk = await deadline.race(within(ms, reading, () => new DeadlineEnded('read-ahead')));
      }
    } catch (error) {
      if (enoughAt === undefined || (error instanceof DeadlineEnded && deadline.endedBy === 'caller')) throw error;
      return stop();
    }
    if (chunk === undefined) break;
    untrusted ??= collector.watch = new UntrustedColumns(cursor.columns);
    collector.add(chunk.json);
    if (collector.full !== undefined) return stop();
    if (enoughAt === undefined && (collector.rows > returned.maxRows || collector.bytes > returned.maxBytes)) {
      enoughAt = performance.now();
    }
  }
  const end = cursor.end ?? { cutCells: 0 };
  return {
    columns: cursor.columns,
    untrusted: (untrusted ?? new UntrustedColumns(cursor.columns)).marks,
    rows: collector.rowSet(),
    end: { ...end, cutCells: end.cutCells + collector.cutCells },
    overran: collector.cutCells > 0,
  };
}

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

/**
 * Tells which columns may carry text of telemetry senders; in doubt, a column does. Checks the cells of columns that claim to
 * hold our own values, as their rows are read.
 */
export class UntrustedColumns implements CellWatch {
  readonly columns: number;
  readonly #untrusted: boolean[];
  /** By column, as long as no cell has disproved them. */
  readonly #claims: (RegExp | undefined)[];
  readonly #idLengths: readonly (number | undefined)[];

  constructor(columns: readonly ResultColumn[]) {
    this.#untrusted = columns.map(({ type }) => !isScalar(type));
    const claims = columns.map(({ name }, index) =>
      this.#untrusted[index] === true && Object.hasOwn(ownText, name) ? ownText[name] : undefined,
    );
    const last = claims.findLastIndex((claim) => claim !== undefined);
    const believed = claims.filter((claim) => claim !== undefined).length <= mostClaims;
    this.columns = believed ? last + 1 : 0;
    this.#claims = believed ? claims : [];
    this.#idLengths = columns.map(({ name }) => ids.get(name));
  }

  cell(column: number, bytes: Uint8Array, start: number, end: number, hex: boolean): void {
    const claim = this.#claims[column];
    if (claim === undefined || (hex && end - start === this.#idLengths[column])) return;
    if (!claim.test(content(bytes, start, end))) this.#claims[column] = undefined;
  }

  /** For each column, once all rows were seen. */
  get marks(): readonly boolean[] {
    return this.#untrusted.map((untrusted, column) => untrusted && this.#claims[column] === undefined);
  }
}

/** Usual cell lengths of these columns, with quotes: such cells are checked without decoding them. */
const ids: ReadonlyMap<string, number> = new Map([
  ['trace_id', 34],
  ['span_id', 18],
  ['parent_span_id', 18],
]);

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
function content(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > 64) return '?';
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
    .toString('latin1')
    .trim();
  if (text === 'null') return '';
  return text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : '?';
}
