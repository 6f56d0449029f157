import type { Node } from '../../../src/contract/telemetry/index.ts';
import type { Refusals } from './refuse.ts';
import type { Token } from './tokens.ts';
import { namesOf } from './tree.ts';

/** Of all that the aggregates of a transaction hold, as `weightOf` counts it. */
export const maxCounted = 256_000_000;
/** Smaller values are counted by chance, in proportion, so that a setting is written once for so many bytes. */
const stride = 16_384;
const ofRow = 40;

/** Begins what the server fails with where the count is beyond `maxCounted`. */
export const countedMark = 'sightline.held';
/** No function of the caller's reads or sets it, and it ends with the transaction. */
const setting = 'otel.held';

/** Measured on a server: an array or a text is copied when it is done; jsonb is a tree of some twenty times its text. */
function weightOf(name: string): number {
  return name.startsWith('jsonb_') ? 20 : 2;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * PostgreSQL bounds no aggregate's memory. So each value that one holds of rows whose number only the server knows is counted
 * as it is evaluated, and the statement fails where they are too much. A plan with the count is not run in parallel.
 */
export function countHeld(tokens: readonly Token[], nodes: readonly Node[], refusals: Refusals): readonly Token[] {
  if (nodes.length === 0) return tokens;
  const spans = nodes.map((node) => ({ node, ...inside(tokens, node) }));
  const before = new Map<number, readonly (string | Span)[]>();
  const after = new Map<number, string>();
  for (const { node, from, to } of spans) {
    const name = namesOf(node['funcname']).at(-1);
    if (name === undefined) {
      before.set(from, ['SELECT', ...test([`otel_held.value`], 2), 'THEN otel_held.value END FROM (']);
      after.set(to, ') AS otel_held (value)');
      continue;
    }
    // Its arguments are written several times over.
    if (spans.some((other) => other.from > from && other.from < to)) throw refusals.heldInHeld(node);
    const ends = argumentEnds(tokens, { from, to });
    const [first = to] = ends;
    const last = ends.at(-1) ?? to;
    before.set(from, [...test([{ from, to: last }], weightOf(name)), 'THEN (']);
    after.set(first, ') END');
  }
  return tokens.flatMap((token, index) => [
    ...mark(after.get(index)),
    ...(before.get(index) ?? []).flatMap((part) =>
      typeof part === 'string' ? mark(part) : tokens.slice(part.from, part.to),
    ),
    token,
  ]);
}

/** `CASE WHEN …` that is true until too much is held, and then fails. */
function test(values: readonly (string | Span)[], weight: number): readonly (string | Span)[] {
  const size = [`pg_catalog.octet_length(pg_catalog.concat(`, ...values, `)) * ${weight}::bigint + ${ofRow}`];
  const held = `coalesce(nullif(pg_catalog.current_setting('${setting}', true), ''), '0')::bigint`;
  return [
    `CASE WHEN pg_catalog.random() * ${stride} >=`,
    ...size,
    `OR pg_catalog.set_config('${setting}', (${held} + greatest(${stride},`,
    ...size,
    `))::text, true)::bigint < ${maxCounted} OR ('${countedMark} ' || pg_catalog.random())::bool`,
  ];
}

function mark(sql: string | undefined): readonly Token[] {
  return sql === undefined ? [] : [{ kind: 'mark', sql, origin: 0, location: -1 }];
}

/** Between the brackets of a call or of `ARRAY (…)`; from its first argument on. */
function inside(tokens: readonly Token[], { location }: Node): Span {
  const start = tokens.findIndex((token) => token.location === (location ?? 0));
  const open = tokens.findIndex(({ sql, kind }, index) => index > start && kind === 'mark' && sql === '(');
  const from = tokens[open + 1]?.sql.toLowerCase() === 'all' ? open + 2 : open + 1;
  return { from, to: [...marks(tokens, from)].at(-1) ?? from };
}

/** Where each argument ends. */
function argumentEnds(tokens: readonly Token[], { from, to }: Span): readonly number[] {
  const ends = [...marks(tokens, from)];
  const order = ends.findIndex((at) => tokens[at]?.kind === 'keyword');
  return order < 0 ? [...ends.filter((at) => at < to), to] : ends.slice(0, order + 1);
}

/** Commas and ORDER on the level of the first token, then the bracket that closes it. */
function* marks(tokens: readonly Token[], from: number): Generator<number> {
  let depth = 0;
  for (let at = from; at < tokens.length; at += 1) {
    const { sql = '', kind } = tokens[at] ?? {};
    if (kind === 'keyword' ? depth === 0 && sql.toLowerCase() === 'order' : depth === 0 && sql === ',') yield at;
    if (kind !== 'mark') continue;
    if (sql === '(' || sql === '[') depth += 1;
    if (sql !== ')' && sql !== ']') continue;
    if (depth === 0) return yield at;
    depth -= 1;
  }
}
