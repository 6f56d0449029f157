import type { ScannedToken } from './parser.ts';
import { otelTables, words } from '../../../src/contract/telemetry/index.ts';
import { functions } from './functions.ts';

/** Types of casts and column definitions. Not here: xml, name, "char", oid and its kin, reg* (they look names up), rows. */
export const types: ReadonlySet<string> = new Set(
  words(`bit bool bpchar bytea cidr date daterange float4 float8 inet int2 int4 int4range int8 int8range interval json jsonb
  jsonpath macaddr macaddr8 numeric numrange text time timestamp timestamptz timetz tsquery tsrange tstzrange tsvector
  uuid varbit varchar`),
);

export const operators: ReadonlySet<string> = new Set(
  words(`+ - * / % ^ |/ ||/ @ & | # ~ << >> = <> != < <= > >= || ~~ ~~* !~~ !~~* ~* !~ !~* ^@ -> ->> #> #>> @> <@ ? ?| ?& #- @?
  @@ && -|- &< &> <<= >>= @@@ !! <->`),
);

export const collations: ReadonlySet<string> = new Set(words('C POSIX default ucs_basic und-x-icu unicode en-x-icu'));

export const systemColumns: ReadonlySet<string> = new Set(['cmax', 'cmin', 'ctid', 'oid', 'tableoid', 'xmax', 'xmin']);

/**
 * Names that may follow a dot whatever stands before it. `x.name` is also a call: where `x` has no such column, PostgreSQL
 * reads it as `name(x)`, so `('/etc/passwd'::text).pg_read_file` reads a file.
 */
export const fields: ReadonlySet<string> = new Set([
  ...functions,
  ...Object.values(otelTables).flatMap(({ columns }) => columns.map(({ name }) => name)),
  ...words('key value quantile ordinality f1 f2 f3 f4'),
]);

export interface Token {
  readonly kind: 'identifier' | 'constant' | 'keyword' | 'mark';
  /** As it is written to the engine. */
  readonly sql: string;
  /** Where it begins in the caller's SQL, 0-based, UTF-16. */
  readonly origin: number;
  /** Where it begins in the canonical SQL, in bytes of UTF-8, as the tree counts. */
  readonly location: number;
}

/**
 * The canonical SQL: the caller's tokens as PostgreSQL's own scanner cut them, one space between, no comments, numbers in
 * decimal digits alone. It is this text that is parsed, checked and sent, so nothing depends on two readings agreeing; and
 * servers before 16, which do not read `0x1F`, `1_000` or a vertical tab like this parser, are not shown any.
 */
export function canonical(sql: string, scanned: readonly ScannedToken[]): readonly Token[] {
  const bytes = Buffer.from(sql, 'utf8');
  const tokens: Token[] = [];
  let location = 0;
  let read = 0;
  let origin = 0;
  for (const { start, end, tokenName, keywordName } of withoutEnds(bytes, scanned)) {
    const between = bytes.toString('utf8', read, start);
    const raw = bytes.toString('utf8', start, end);
    const begin = origin + between.length;
    origin = begin + raw.length;
    read = end;
    const previous = tokens.at(-1);
    // A text goes on behind a new line, perhaps with a comment before it.
    if (raw.startsWith("'") && previous?.sql.endsWith("'") && /[\n\r]/.test(between)) {
      tokens[tokens.length - 1] = { ...previous, sql: `${previous.sql}\n${raw}` };
      location += Buffer.byteLength(raw) + 1;
      continue;
    }
    const isNumber = /^\.?[0-9]/.test(raw);
    const written = isNumber ? decimal(raw) : raw;
    tokens.push({
      kind: isNumber ? 'constant' : kindOf(raw, tokenName, keywordName),
      sql: written,
      origin: begin,
      location,
    });
    location += Buffer.byteLength(written) + 1;
  }
  return tokens;
}

/** Without comments, and without semicolons at either end. */
function withoutEnds(bytes: Buffer, scanned: readonly ScannedToken[]): readonly ScannedToken[] {
  const semicolon = 0x3b;
  const tokens = scanned.filter(({ tokenName }) => tokenName !== 'SQL_COMMENT' && tokenName !== 'C_COMMENT');
  const first = tokens.findIndex(({ start }) => bytes[start] !== semicolon);
  return first < 0 ? [] : tokens.slice(first, tokens.findLastIndex(({ start }) => bytes[start] !== semicolon) + 1);
}

function kindOf(raw: string, tokenName: string, keywordName: string): Token['kind'] {
  if (keywordName !== 'NO_KEYWORD') return 'keyword';
  if (/^(?:[a-z]?&?'|\$[^0-9])/i.test(raw)) return 'constant';
  return tokenName === 'IDENT' || /^(?:u&)?"/i.test(raw) ? 'identifier' : 'mark';
}

function decimal(number: string): string {
  const digits = number.replaceAll('_', '');
  return /^0[xob]/i.test(digits) ? BigInt(digits).toString() : digits;
}
