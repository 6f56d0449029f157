import type { Holds, SightedTable, ValueReader } from '../../../src/contract/telemetry/index.ts';
import { quoteName, quoteText } from '../types.ts';

/** Asks the server; cells as text. */
export type Ask = (text: string, values?: readonly string[]) => Promise<readonly (readonly (string | null)[])[]>;

const most = 1_000;

const kinds: readonly (readonly [RegExp, Holds])[] = [
  [/^(text|character|name|"char"|bytea|citext)/, 'text'],
  [/^enum$/, 'enum'],
  [/^uuid$/, 'uuid'],
  [/^(smallint|integer|bigint)$/, 'integer'],
  [/^(numeric|real|double precision)/, 'float'],
  [/^boolean$/, 'boolean'],
  [/^timestamp.* with time zone$/, 'time'],
  [/^(timestamp|date)/, 'local'],
  [/^interval/, 'interval'],
  [/^jsonb$/, 'map'],
  [/^json$/, 'json'],
];

function holdsOf(type: string | null | undefined): Holds {
  return kinds.find(([pattern]) => pattern.test(type ?? ''))?.[1] ?? 'other';
}

/** The name of a type, of a domain that of what it is over. */
const typeName =
  "CASE t.typtype WHEN 'e' THEN 'enum' ELSE pg_catalog.format_type(coalesce(nullif(t.typbasetype, 0), t.oid), NULL) END";

/** Every table and view that the login may read, but the boundary's own views; partitions are read through their table. */
export async function sightedTables(ask: Ask, own: string): Promise<readonly SightedTable[]> {
  const found = await ask(
    `SELECT n.nspname::text, c.relname::text, a.attname::text, ${typeName}, a.attnotnull::text
     FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
     JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND n.nspname <> $1
       AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^(pg_(toast|temp)|_timescaledb)'
       AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')
     ORDER BY c.reltuples DESC, 1, 2, a.attnum LIMIT 50000`,
    [own],
  );
  const tables = Map.groupBy(found, ([schema, table]) => `${plain(schema ?? '')}.${plain(table ?? '')}`);
  return [...tables].map(([from, columns]) => ({
    from,
    columns: columns.map(([, , name, type, isFilled]) => ({
      name: name ?? '',
      sql: plain(name ?? ''),
      holds: holdsOf(type),
      nullable: isFilled !== 'true',
    })),
  }));
}

/** As an operator would write it. */
function plain(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : quoteName(name);
}

function cell(column: string, holds: Holds): string {
  if (holds === 'time' || holds === 'local') return `trunc(extract(epoch FROM ${column}) * 1000000000)::text`;
  return `left(${column}::text, 4000)`;
}

const factors = { ns: 1, us: 1_000, ms: 1_000_000, s: 1_000_000_000 } as const;
/** As one operand. */
const one = (expression: string) => (/^[\w".]+$/.test(expression) ? expression : `(${expression})`);

export function valueReader(ask: Ask): ValueReader {
  return {
    async sample(from, where, expressions) {
      if (expressions.length === 0) return [];
      const listed = expressions.map((expression, at) => `(${expression}) AS _${at}`).join(', ');
      const filter = where === undefined ? '' : ` WHERE ${where}`;
      const inner = `SELECT ${listed} FROM ${from}${filter}`;
      const types = expressions.map(
        (_, at) => `(SELECT ${typeName} FROM pg_catalog.pg_type AS t WHERE t.oid = pg_typeof(_${at}))`,
      );
      const [typed = []] = await ask(`SELECT ${types.join(', ')} FROM (${inner} LIMIT 1) AS _row`);
      const holds = expressions.map((_, at) => holdsOf(typed[at]));
      const rows = await ask(
        `SELECT ${holds.map((of, at) => cell(`_${at}`, of)).join(', ')} FROM (${inner} LIMIT ${most}) AS _rows`,
      );
      return holds.map((of, at) => ({ holds: of, cells: rows.map((row) => row[at] ?? null) }));
    },
    sql: {
      text: (expression) => `${one(expression)}::text`,
      hex(expression, of) {
        if (of === 'integer') return `lpad(to_hex(${one(expression)}::bigint), 16, '0')`;
        return `encode(${of === 'bytes' ? expression : `decode(${expression}, 'base64')`}, 'hex')`;
      },
      moment(expression, form) {
        const value = one(expression);
        if (form === 'local') return `${value} AT TIME ZONE 'UTC'`;
        if (form === 'text') return `${value}::timestamptz`;
        if (form === 's') return `to_timestamp(${expression})`;
        const since = { ns: `(${value} / 1000)`, us: value, ms: `(${value} * 1000)` }[form];
        return `timestamptz 'epoch' + ${since} * interval '1 microsecond'`;
      },
      bounds(expression, form) {
        if (form === 'text') return [];
        const at = (end: string) =>
          form === 'local'
            ? `${end} AT TIME ZONE 'UTC'`
            : `(extract(epoch FROM ${end}) * ${1e9 / factors[form]})::bigint`;
        return [`${expression} >= ${at('{start}')}`, `${expression} <= ${at('{end}')}`];
      },
      nanos: (expression, unit) =>
        unit === 'interval'
          ? `coalesce((extract(epoch FROM ${expression}) * 1000000000)::bigint, 0)`
          : `coalesce((${one(expression)} * ${factors[unit]})::bigint, 0)`,
      between: (start, end) => `coalesce((extract(epoch FROM (${end}) - (${start})) * 1000000000)::bigint, 0)`,
      after: (start, nanos) => `${start} + (${nanos}) / 1000 * interval '1 microsecond'`,
      map(expression, of) {
        if (of !== 'pairs') return `coalesce(${one(expression)}::jsonb, '{}')`;
        const value = "(SELECT _value #>> '{}' FROM jsonb_each(_pair -> 'value') AS _any(_type, _value) LIMIT 1)";
        const list = `CASE WHEN jsonb_typeof(${one(expression)}::jsonb) = 'array' THEN ${one(expression)}::jsonb ELSE '[]' END`;
        return `(SELECT coalesce(jsonb_object_agg(_pair ->> 'key', ${value}), '{}') FROM jsonb_array_elements(${list}) AS _all(_pair) WHERE _pair ->> 'key' IS NOT NULL)`;
      },
      merged: (maps) => maps.map((map) => `coalesce(${map}, '{}')`).join(' || '),
      attribute: (map, key) => `coalesce(${one(map)} ->> ${quoteText(key)}, '')`,
    },
  };
}
