import { code, percent, eitherWindow, within } from '../sql.ts';
import { listed, type Row } from '../notebook.ts';
import type { Step, Scene } from '../scene.ts';
import { latest } from '../sample.ts';
import { rate, twoProportionZ, type Proportion } from '../statistics.ts';

/** One or two attributes with their values, and how much of the bad spans and of the rest have them. */
export interface Contrast {
  readonly attributes: readonly Attribute[];
  readonly bad: Proportion;
  readonly rest: Proportion;
  readonly what: What;
}

type What = 'failing' | 'slow';

interface Attribute {
  /** Where it stands: of the span, of what sent it, or of the first span of its trace. */
  readonly place: Place;
  readonly key: string;
  readonly value: string;
}

const places = { span: 'x.attributes', resource: 'x.resource_attributes', request: 'x.request_attributes' } as const;
type Place = keyof typeof places;

export interface Contrasts {
  readonly evidenceIds: readonly string[];
  readonly failed: boolean;
  /** What tells the bad spans from the rest, clearest first; empty where nothing does. */
  readonly found: readonly Contrast[];
}

/** Whose spans are compared, and which of them are bad. */
export interface BadSpans {
  readonly service: string;
  readonly operation: string | undefined;
  readonly bad: 'failed' | { readonly slowerThan: number };
}

/** More say nothing more about shares, and cost. */
const mostOfGroup = 5_000;
/** Where the latest time holds fewer bad spans, all of it is looked at. */
const leastOfSample = 100;
/** Values that fewer of the bad spans have explain them in no way. */
const leastShare = 0.2;
/** So much more common among the bad: neither one key in hundreds by chance nor too little to act on. */
const [leastZ, leastGain] = [5, 0.2];
/** Of so many values of different keys all pairs are looked at. */
const paired = 4;
/** What says that and how a span ended tells nothing about why. */
const outcomes = ['%status_code%', '%error%', '%exception%', '%.duration%', '%response%'];

/** Which attribute values the bad spans have and the rest have not: one customer, host, version, route, and two together. */
export async function* attributeContrast(whole: Scene, spans: BadSpans): Step<Contrasts> {
  const scene = latest(whole);
  const { notebook, write, windows } = scene;
  const sample = sampleOf(scene, spans);
  const entries = Object.entries(places).map(
    ([place, column]) =>
      `SELECT ${write.literal(place)} AS place, x.is_bad AS is_bad, a.key AS attribute, a.value AS attribute_value FROM x CROSS JOIN ${write.unnestMap(column, 'a')}`,
  );
  const named = outcomes.map((pattern) => `attribute NOT LIKE ${write.literal(pattern)}`).join(' AND ');
  const gain = `${write.ratio('sum(u.is_bad)', 'min(t.bad_total)')} - COALESCE(${write.ratio('sum(1 - u.is_bad)', 'min(t.rest_total)')}, 0)`;
  const sql = `WITH ${sample}, u AS (
  ${entries.join('\n  UNION ALL\n  ')}
), t AS (
  SELECT sum(x.is_bad) AS bad_total, sum(1 - x.is_bad) AS rest_total FROM x
)
SELECT u.place AS place, u.attribute AS attribute, u.attribute_value AS attribute_value, sum(u.is_bad) AS bad, sum(1 - u.is_bad) AS rest, min(t.bad_total) AS bad_total, min(t.rest_total) AS rest_total
FROM u CROSS JOIN t
WHERE ${named}
GROUP BY u.place, u.attribute, u.attribute_value
HAVING sum(u.is_bad) >= ${leastShare} * min(t.bad_total)
ORDER BY ${gain} DESC, u.attribute, u.attribute_value, u.place
LIMIT 50`;
  const what: What = spans.bad === 'failed' ? 'failing' : 'slow';
  const read = (row: Row): Contrast => readSingle(row, what);
  const whose = `${code(spans.service, 60)}${spans.operation === undefined ? '' : ` ${code(spans.operation, 80)}`}`;
  const single = yield* notebook.ask({
    question: `What do the ${what} spans of ${whose} have in common that the rest have not?`,
    sql,
    window: windows.now,
    judge(rows) {
      const found = telling(rows.map(read)).slice(0, 5).map(describe);
      return listed(found, 'No attribute value tells them from the rest.', rows.length === 0 ? 'neutral' : 'refutes');
    },
  });
  const fewBad = (single.rows[0]?.number('bad_total') ?? 0) < leastOfSample;
  if (whole.sample !== undefined && fewBad && !single.failed) {
    return yield* attributeContrast({ ...whole, sample: undefined }, spans);
  }
  const singles = telling(single.rows.map(read));
  const pairs = pairsOf(singles);
  if (pairs.length === 0) return { evidenceIds: [single.evidenceId], failed: single.failed, found: singles };

  const has = ({ place, key, value }: Attribute) => `${write.attribute(places[place], key)} = ${write.literal(value)}`;
  const counts = pairs.map(([a, b], index) => {
    const both = `${has(a)} AND ${has(b)}`;
    return `SELECT ${index} AS pair, ${write.countIf(`x.is_bad = 1 AND ${both}`)} AS bad, ${write.countIf(`x.is_bad = 0 AND ${both}`)} AS rest, sum(x.is_bad) AS bad_total, sum(1 - x.is_bad) AS rest_total FROM x`;
  });
  const readPair = (row: Row): Contrast => ({ ...read(row), attributes: pairs[row.number('pair')] ?? [] });
  const better = (rows: readonly Row[]): readonly Contrast[] =>
    telling(rows.map(readPair)).filter((pair) => isSharper(pair, singles));
  const double = yield* notebook.ask({
    question: `Which two of these together tell the ${what} spans of ${whose} from the rest?`,
    sql: `WITH ${sample}, p AS (
  ${counts.join('\n  UNION ALL\n  ')}
)
SELECT pair, bad, rest, bad_total, rest_total FROM p ORDER BY pair LIMIT 50`,
    window: windows.now,
    judge: (rows) => listed(better(rows).slice(0, 3).map(describe), 'No two of them tell more than one alone.'),
  });
  return {
    evidenceIds: [single.evidenceId, double.evidenceId],
    failed: single.failed,
    found: [...better(double.rows), ...singles],
  };
}

/** `x`: up to so many bad spans and as many others, the latest, each with the attributes of its trace's first span. */
function sampleOf({ write, windows }: Scene, { service, operation, bad }: BadSpans): string {
  const condition = bad === 'failed' ? "status_code = 'ERROR'" : `duration_nano > ${Math.round(bad.slowerThan)}`;
  const only = operation === undefined ? '' : ` AND name = ${write.literal(operation)}`;
  const group = (range: string, flag: number, which: string) => `SELECT * FROM (
    SELECT trace_id, span_id, attributes, resource_attributes, ${flag} AS is_bad
    FROM otel.spans
    WHERE ${range} AND service_name = ${write.literal(service)}${only} AND ${which}
    ORDER BY time DESC, span_id
    LIMIT ${mostOfGroup}
  ) g${flag}`;
  return `s AS (
  ${group(within(write, 'time', windows.now).slice(1, -1), 1, condition)}
  UNION ALL
  ${group(eitherWindow(write, 'time', windows), 0, `NOT (${condition})`)}
), x AS (
  SELECT s.is_bad AS is_bad, s.attributes AS attributes, s.resource_attributes AS resource_attributes, f.attributes AS request_attributes
  FROM s LEFT JOIN (
    SELECT trace_id, attributes FROM otel.spans WHERE ${eitherWindow(write, 'time', windows)} AND parent_span_id = ''
  ) f ON f.trace_id = s.trace_id
)`;
}

function readSingle(row: Row, what: What): Contrast {
  const place = row.text('place');
  return {
    attributes: [
      {
        place: place === 'resource' || place === 'request' ? place : 'span',
        key: row.text('attribute'),
        value: row.text('attribute_value'),
      },
    ],
    bad: { hits: row.number('bad'), total: row.number('bad_total') },
    rest: { hits: row.number('rest'), total: row.number('rest_total') },
    what,
  };
}

/** Those that stand out by size and by chance; of several keys that say the same, the first. */
function telling(contrasts: readonly Contrast[]): readonly Contrast[] {
  const seen = new Set<string>();
  return contrasts.filter(({ bad, rest }) => {
    if (bad.total < 5 || rest.total < 5) return false;
    if (rate(bad) - rate(rest) < leastGain || rate(bad) < 1.5 * rate(rest)) return false;
    if (twoProportionZ(bad, rest) < leastZ) return false;
    const same = `${bad.hits} ${rest.hits}`;
    return !seen.has(same) && seen.add(same);
  });
}

function pairsOf(singles: readonly Contrast[]): readonly (readonly [Attribute, Attribute])[] {
  const keys = new Set<string>();
  const first = singles
    .flatMap(({ attributes }) => attributes)
    .filter(({ key }) => !keys.has(key) && keys.add(key))
    .slice(0, paired);
  return first.flatMap((a, index) => first.slice(index + 1).map((b) => [a, b] as const));
}

/** Two say more than each alone where they keep most of the bad spans and lose half of the others. */
function isSharper({ attributes, bad, rest }: Contrast, singles: readonly Contrast[]): boolean {
  const alone = singles.filter((single) => single.attributes.every((one) => attributes.includes(one)));
  return alone.every((single) => rate(bad) >= 0.8 * rate(single.bad) && rate(rest) <= rate(single.rest) / 2);
}

/** `` `checkout.promo_code=FREESHIP`: 100 % of the failing, 4 % of the rest `` */
export function describe({ attributes, bad, rest, what }: Contrast): string {
  const named = attributes.map(({ key, value }) => code(`${key}=${value}`, 120)).join(' with ');
  return `${named}: ${percent(rate(bad))} of the ${what}, ${percent(rate(rest))} of the rest`;
}
