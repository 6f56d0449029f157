export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The schema of a name that quoteName wrote the parts of. */
export function schemaOf(name: string): string {
  return name.slice(0, name.indexOf('".') + 1);
}

/** A text literal, for sessions where a backslash is a backslash (standard_conforming_strings, which every session sets). */
export function quoteText(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

export function timestampLiteral(time: Date): string {
  const [date = '', clock = ''] = time.toISOString().split('T');
  // Beyond the year 9999 JavaScript writes a sign that PostgreSQL does not read.
  return `'${date.replace(/^\+0*/, '')} ${clock.replace('Z', '+00')}'::timestamptz`;
}

export type CellKind = 'number' | 'float' | 'boolean' | 'json' | 'time' | 'bytes' | 'text';

export interface PostgresType {
  readonly name: string;
  readonly kind: CellKind;
  readonly element?: PostgresType;
}

/** The built-in types by oid, with the oid of their arrays. 64-bit integers and decimals are text: JSON readers round them. */
const scalars: readonly (readonly [oid: number, array: number, name: string, kind: CellKind])[] = [
  [16, 1000, 'boolean', 'boolean'],
  [17, 1001, 'bytea', 'bytes'],
  [18, 1002, '"char"', 'text'],
  [19, 1003, 'name', 'text'],
  [20, 1016, 'bigint', 'text'],
  [21, 1005, 'smallint', 'number'],
  [23, 1007, 'integer', 'number'],
  [25, 1009, 'text', 'text'],
  [26, 1028, 'oid', 'number'],
  [114, 199, 'json', 'json'],
  [700, 1021, 'real', 'float'],
  [701, 1022, 'double precision', 'float'],
  [790, 791, 'money', 'text'],
  [829, 1040, 'macaddr', 'text'],
  [869, 1041, 'inet', 'text'],
  [650, 651, 'cidr', 'text'],
  [1042, 1014, 'character', 'text'],
  [1043, 1015, 'character varying', 'text'],
  [1082, 1182, 'date', 'text'],
  [1083, 1183, 'time without time zone', 'text'],
  [1114, 1115, 'timestamp without time zone', 'time'],
  [1184, 1185, 'timestamp with time zone', 'time'],
  [1186, 1187, 'interval', 'text'],
  [1266, 1270, 'time with time zone', 'text'],
  [1560, 1561, 'bit', 'text'],
  [1562, 1563, 'bit varying', 'text'],
  [1700, 1231, 'numeric', 'text'],
  [2249, 2287, 'record', 'text'],
  [2950, 2951, 'uuid', 'text'],
  [3802, 3807, 'jsonb', 'json'],
  [3904, 3905, 'int4range', 'text'],
  [3906, 3907, 'numrange', 'text'],
  [3908, 3909, 'tsrange', 'text'],
  [3910, 3911, 'tstzrange', 'text'],
  [3912, 3913, 'daterange', 'text'],
  [3926, 3927, 'int8range', 'text'],
];

const byOid = new Map<number, PostgresType>();
for (const [oid, array, name, kind] of scalars) {
  const type = { name, kind };
  byOid.set(oid, type);
  byOid.set(array, { name: `${name}[]`, kind: 'text', element: type });
}

/** What is not built in is shown as its text. */
export function typeOf(oid: number): PostgresType {
  return byOid.get(oid) ?? { name: `type ${oid}`, kind: 'text' };
}
