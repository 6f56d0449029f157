import { otelTables } from '../../../src/contract/telemetry/index.ts';
import { functions } from './functions.ts';

/** Types of casts and column definitions. Not here: xml, name, "char", oid and its kin, reg* (they look names up), rows. */
export const types: ReadonlySet<string> = new Set(
  `bit bool bpchar bytea cidr date daterange float4 float8 inet int2 int4 int4range int8 int8range interval json jsonb
  jsonpath macaddr macaddr8 numeric numrange text time timestamp timestamptz timetz tsquery tsrange tstzrange tsvector
  uuid varbit varchar`.split(/\s+/),
);

export const operators: ReadonlySet<string> = new Set(
  `+ - * / % ^ |/ ||/ @ & | # ~ << >> = <> != < <= > >= || ~~ ~~* !~~ !~~* ~* !~ !~* ^@ -> ->> #> #>> @> <@ ? ?| ?& #- @?
  @@ && -|- &< &> <<= >>= @@@ !! <->`.split(/\s+/),
);

export const collations: ReadonlySet<string> = new Set([
  'C',
  'POSIX',
  'default',
  'ucs_basic',
  'und-x-icu',
  'unicode',
  'en-x-icu',
]);

export const systemColumns: ReadonlySet<string> = new Set(['cmax', 'cmin', 'ctid', 'oid', 'tableoid', 'xmax', 'xmin']);

/**
 * Names that may follow a dot whatever stands before it. `x.name` is also a call: where `x` has no such column, PostgreSQL
 * reads it as `name(x)`, so `('/etc/passwd'::text).pg_read_file` reads a file.
 */
export const fields: ReadonlySet<string> = new Set([
  ...functions,
  ...Object.values(otelTables).flatMap(({ columns }) => columns.map(({ name }) => name)),
  'key',
  'value',
  'quantile',
  'ordinality',
  'f1',
  'f2',
  'f3',
  'f4',
]);
