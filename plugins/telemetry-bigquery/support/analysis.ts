import type { Dialect } from '../../../src/contract/telemetry/index.ts';
import { functionNames } from '../gate/policy.ts';

/**
 * What BigQuery's analyzer says first of a statement that the gate lets through, by its documented messages: names that are
 * not there, and comparisons of different types. It knows no more: there is no BigQuery to ask.
 */
export function analysisError(sql: string, dialect: Dialect): string | undefined {
  if (/^\s*(show|describe|desc)\b/i.test(sql)) return undefined;
  const bare = sql.replaceAll(
    /(?:\br)?'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g,
    (text) => `'${'x'.repeat(text.length - 2)}'`,
  );
  const plain = bare.replaceAll(/`(\w+)`/g, '$1');
  const tables = dialect.tables.filter(({ name }) => new RegExp(`otel\\.${name}\\b`, 'i').test(plain));
  const columns = new Map(tables.flatMap((table) => table.columns.map(({ name, type }) => [name, type] as const)));
  return unknownName(plain, columns) ?? unknownFunction(plain) ?? mismatch(plain, columns) ?? ungrouped(plain, columns);
}

const reserved = new Set(
  `select from where group by order having limit offset as and or not in is null case when then else end on join left inner
  with distinct desc asc between like interval true false union all over partition cast extract hour minute second day week
  month year int64 float64 string bool timestamp date array struct otel spans metrics logs within exists unnest if
  safe_offset safe_cast current_timestamp`.split(/\s+/),
);

function unknownName(sql: string, columns: ReadonlyMap<string, string>): string | undefined {
  const aliases = new Set(
    [...sql.matchAll(/(?:\bas|\botel\.\w+(?:\s+as)?|\)(?:\s+as)?)\s+`?(\w+)`?/gi)].map(([, name = '']) =>
      name.toLowerCase(),
    ),
  );
  for (const match of sql.matchAll(/`([^`]+)`|(?<![\w.'$])([A-Za-z_]\w*)((?:\.\w+)*)(?!\w*\s*\()/g)) {
    const [whole, quoted, word = '', path = ''] = match;
    const name = (quoted ?? word).toLowerCase();
    const isTable = /\b(from|join)\s+$|[.]$/i.test(sql.slice(0, match.index));
    if (isTable || reserved.has(name) || /^\w+\s*\(/.test(sql.slice(match.index))) continue;
    if (aliases.has(name)) {
      const field = path.slice(1).split('.')[0]?.toLowerCase();
      if (field !== undefined && field !== '' && !columns.has(field))
        return `Name ${field} not found inside ${name} at [1:1]`;
      continue;
    }
    if (!columns.has(name))
      return `Unrecognized name: ${quoted ?? whole.split('.')[0] ?? ''} at [1:${match.index + 1}]`;
  }
  return undefined;
}

function unknownFunction(sql: string): string | undefined {
  const known = new Set([...functionNames].map((name) => name.toLowerCase()));
  for (const [, name = ''] of sql.matchAll(/\b([A-Za-z_]\w*)\s*\(/g)) {
    if (!known.has(name.toLowerCase()) && !reserved.has(name.toLowerCase()))
      return `Function not found: ${name} at [1:1]`;
  }
  return undefined;
}

const typesOf: Readonly<Record<string, string>> = {
  string: 'STRING',
  int64: 'INT64',
  float64: 'FLOAT64',
  timestamp: 'TIMESTAMP',
  map: 'JSON',
  boolean: 'BOOL',
};

function mismatch(sql: string, columns: ReadonlyMap<string, string>): string | undefined {
  const plus = /'x*'\s*\+|\+\s*'x*'/.exec(sql);
  if (plus !== null) return 'No matching signature for operator + for argument types: STRING, STRING at [1:8]';
  if (/\bsum\s*\(\s*\w+\s*=/i.test(sql))
    return 'No matching signature for aggregate function SUM for argument types: BOOL at [1:8]';
  if (/\b(?:avg|sum)\s*\(\s*\w*attributes\[/i.test(sql))
    return 'No matching signature for aggregate function AVG for argument types: JSON at [1:8]';
  for (const [, name = '', subscript, sign = '', value = ''] of sql.matchAll(
    /(\w+)(\[[^\]]*\])?\s*(==|=|<>|!=|<=|>=|<|>|-)\s*('x*'|\d[\w.]*|interval\b|true|unix_timestamp|current_timestamp\(\)\s*-\s*\d)/gi,
  )) {
    const type = columns.get(name.toLowerCase());
    if (type === undefined) continue;
    const left = subscript === undefined ? (typesOf[type] ?? type.toUpperCase()) : 'JSON';
    const right = value.startsWith("'")
      ? 'STRING'
      : /^\d/.test(value)
        ? 'INT64'
        : /^interval/i.test(value)
          ? 'INTERVAL'
          : /^true/i.test(value)
            ? 'BOOL'
            : 'TIMESTAMP';
    const fits =
      left === right || (left === 'TIMESTAMP' && right === 'STRING') || (left === 'FLOAT64' && right === 'INT64');
    if (!fits) return `No matching signature for operator ${sign} for argument types: ${left}, ${right} at [1:1]`;
  }
  return undefined;
}

function ungrouped(sql: string, columns: ReadonlyMap<string, string>): string | undefined {
  const [, select = '', group = ''] =
    /^select\s+(.+?)\s+from\b.*\bgroup\s+by\s+(.+?)(?:\s+(?:order|having|limit)\b|$)/is.exec(sql) ?? [];
  if (/\bwhere\b[^)]*\bcount\(/i.test(sql)) return 'Aggregate function COUNT not allowed in WHERE clause at [1:1]';
  const grouped = group.toLowerCase().split(/\s*,\s*/);
  const missing = select
    .split(/\s*,\s*/)
    .find(
      (item, at) =>
        columns.has(item.toLowerCase()) && !grouped.includes(item.toLowerCase()) && !grouped.includes(String(at + 1)),
    );
  return group === '' || missing === undefined
    ? undefined
    : `SELECT list expression references column ${missing} which is neither grouped nor aggregated at [1:1]`;
}
