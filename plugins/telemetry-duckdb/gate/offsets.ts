import { isNode, list, otelTables, text, words, type Json, type Node } from '../../../src/contract/telemetry/index.ts';
import { constantText } from './moment.ts';
import { fold, type Rewritten } from './relations.ts';

/** A text that the engine reads as a TIMESTAMP without a word about its offset from UTC. */
const zoned =
  /^ *(\d{4})-(\d{1,2})-(\d{1,2})[ T](\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d+)?([+-])(\d{2}):?(\d{2})?(?::(\d{2}))? *$/;

/** The same moment in UTC, without an offset; undefined for other texts. */
export function utcText(literal: string): string | undefined {
  const match = zoned.exec(literal);
  if (match === null) return undefined;
  const part = (index: number) => Number(match[index] ?? '0');
  const written = Date.UTC(part(1), part(2) - 1, part(3), part(4), part(5), part(6));
  // A day beyond its month would be one of the next, a year before 100 one of the twentieth century.
  const date = new Date(written);
  if (date.getUTCDate() !== part(3) || date.getUTCHours() !== part(4) || date.getUTCFullYear() !== part(1)) {
    return undefined;
  }
  const seconds = (part(9) * 60 + part(10)) * 60 + part(11);
  const moment = new Date(written - (match[8] === '-' ? -seconds : seconds) * 1_000).toISOString();
  return /^\d/.test(moment) ? `${moment.slice(0, 19).replace('T', ' ')}${match[7] ?? ''}` : undefined;
}

/** Functions that read a text among their arguments as a time, or as what another argument is. */
const ofTimes: ReadonlySet<string> = new Set(
  words(`- + age date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc epoch epoch_ms epoch_ns epoch_us
  greatest ifnull least nullif time_bucket timezone`),
);
const ofTexts: ReadonlySet<string> = new Set(
  words(`|| -> ->> array_extract concat concat_ws element_at format json_extract json_extract_string left lower map_extract
  printf regexp_extract regexp_replace replace right split_part strftime substr substring trim upper`),
);
const textColumns: ReadonlySet<string> = new Set(
  Object.values(otelTables).flatMap(({ columns }) =>
    columns.flatMap(({ name, type }) => (type === 'string' ? [name] : [])),
  ),
);

/**
 * What takes the place of constants that this node reads as times. Beside what is not surely a text they get the type too: the
 * engine then fails on a text that is no time, and does not compare it with another moment.
 */
export function offsetsIn(node: Node): readonly (readonly [constant: Node, other: Rewritten])[] {
  if (node['class'] === 'CAST') {
    const type = isNode(node['cast_type']) ? text(node['cast_type']['id']) : '';
    return /^TIMESTAMP(?:_S|_MS)?$/.test(type) ? written([node['child'] ?? null], (moment) => `'${moment}'`) : [];
  }
  if (node['class'] === 'FUNCTION' && !ofTimes.has(fold(text(node['function_name'])))) return [];
  const children = list(
    node['children'] ?? ['left', 'right', 'input', 'lower', 'upper'].map((key) => node[key] ?? null),
  );
  return children.some(isText) ? [] : written(children, (moment) => `CAST('${moment}' AS TIMESTAMP)`);
}

function written(nodes: readonly Json[], sql: (moment: string) => string) {
  return nodes.flatMap((node) => {
    const literal = constantText(node) ?? '';
    const moment = utcText(literal);
    return moment === undefined || !isNode(node) ? [] : [[node, { from: `'${literal}'`, to: sql(moment) }] as const];
  });
}

function isText(node: Json): boolean {
  if (!isNode(node)) return false;
  switch (node['class']) {
    case 'COLUMN_REF':
      return textColumns.has(fold(text(list(node['column_names']).at(-1))));
    case 'CAST':
      return isNode(node['cast_type']) && node['cast_type']['id'] === 'VARCHAR';
    case 'FUNCTION':
      return ofTexts.has(fold(text(node['function_name'])));
    default:
      return node['type'] === 'ARRAY_EXTRACT';
  }
}
