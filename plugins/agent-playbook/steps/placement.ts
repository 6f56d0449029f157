import { code, eitherWindow, isBefore, percent, within } from '../sql.ts';
import { listed, type Finding, type Row } from '../notebook.ts';
import { joined } from '../sample.ts';
import type { Scene, Step } from '../scene.ts';
import { rate, twoProportionZ, type Proportion } from '../statistics.ts';

/** A machine or a zone on which several services became slow or fail, and elsewhere they do not. */
export interface Place {
  readonly key: string;
  readonly value: string;
  /** Slow or failing spans there, elsewhere, and there before. */
  readonly there: Proportion;
  readonly elsewhere: Proportion;
  readonly before: Proportion;
  /** Services with spans there, and those of them that are worse there than elsewhere. */
  readonly services: number;
  readonly worse: number;
}

export interface Placement extends Finding {
  readonly place: Place | undefined;
}

export const keys = ['host.name', 'k8s.node.name', 'cloud.availability_zone'] as const;
/** Fewer spans say nothing about a 95th percentile; a service is worse there with so many bad ones. */
const usually = { fewest: 20, fewestBad: 3 };
/** Where there is little traffic; that all services together stand out is asked of them too. */
const inLightTraffic = { fewest: 10, fewestBad: 2 };
/** A service is worse there: so great a part of its spans is bad, so many times that of elsewhere. */
const [leastBad, timesElsewhere] = [0.08, 3];
/** Several services, more than half of those there, and most of what is bad. */
const [fewestServices, leastOfServices, leastOfBad] = [3, 0.5, 0.6];

/** What the slow and the failing spans of all services share: each span by its own time and its own failure. */
export async function* placement(scene: Scene, isLight: boolean): Step<Placement> {
  const { notebook, write, windows } = scene;
  const { fewest, fewestBad } = isLight ? inLightTraffic : usually;
  const scope = (column: string) => eitherWindow(write, column, windows);
  const columns = keys.map((key, index) => ({
    key: write.literal(key),
    name: `place_${index}`,
    read: `COALESCE(${write.attribute('s.resource_attributes', key)}, '')`,
  }));
  const now = within(write, 'o.time', windows.now);
  const before = isBefore(write, 'o.time', windows);
  const bad = '(o.failed = 1 OR o.own_nano > 1.4 * b.p95_before + 2000000)';
  const rest = (a: string, b: string) => write.ratio(`t.${a} - u.${a}`, `t.${b} - u.${b}`);
  const isWorse = `u.bad >= ${fewestBad} AND u.bad >= ${leastBad} * u.spans AND t.spans > u.spans AND u.bad >= ${timesElsewhere} * u.spans * COALESCE(${rest('bad', 'spans')}, 0)`;
  const sql = `WITH o AS (
  SELECT s.service_name AS service_name, s.name AS name, s.kind AS kind, s.time AS time, ${columns.map(({ read, name }) => `${read} AS ${name}`).join(', ')},
    CASE WHEN s.duration_nano > COALESCE(c.child_nano, 0) THEN s.duration_nano - COALESCE(c.child_nano, 0) ELSE 0 END AS own_nano,
    CASE WHEN s.status_code = 'ERROR' AND COALESCE(c.failed_children, 0) = 0 THEN 1 ELSE 0 END AS failed
  FROM otel.spans s LEFT JOIN (
    SELECT trace_id, parent_span_id, sum(duration_nano) AS child_nano, ${write.countIf("status_code = 'ERROR'")} AS failed_children
    FROM otel.spans
    WHERE ${scope('time')} AND parent_span_id <> ''${joined(scene)}
    GROUP BY trace_id, parent_span_id
  ) c ON c.trace_id = s.trace_id AND c.parent_span_id = s.span_id
  WHERE ${scope('s.time')}${joined(scene, 's.trace_id')}
), b AS (
  SELECT o.service_name AS service_name, o.name AS name, o.kind AS kind, ${write.quantile('o.own_nano', 0.95)} AS p95_before
  FROM o
  WHERE ${before}
  GROUP BY o.service_name, o.name, o.kind
  HAVING count(*) >= ${fewest}
), u AS (
  SELECT p.place AS place, p.place_value AS place_value, p.service_name AS service_name, ${write.countIf('p.is_now = 1')} AS spans, ${write.countIf('p.is_now = 1 AND p.is_bad = 1')} AS bad, ${write.countIf('p.is_before = 1')} AS spans_before, ${write.countIf('p.is_before = 1 AND p.is_bad = 1')} AS bad_before
  FROM (
    SELECT k.place AS place, o.service_name AS service_name, CASE ${columns.map(({ key, name }) => `WHEN k.place = ${key} THEN o.${name}`).join(' ')} ELSE '' END AS place_value,
      CASE WHEN ${now} THEN 1 ELSE 0 END AS is_now, CASE WHEN ${before} THEN 1 ELSE 0 END AS is_before, CASE WHEN ${bad} THEN 1 ELSE 0 END AS is_bad
    FROM o JOIN b ON b.service_name = o.service_name AND b.name = o.name AND b.kind = o.kind CROSS JOIN (${columns.map(({ key }) => `SELECT ${key} AS place`).join(' UNION ALL ')}) k
  ) p
  WHERE p.place_value <> ''
  GROUP BY p.place, p.place_value, p.service_name
), t AS (
  SELECT place, service_name, sum(spans) AS spans, sum(bad) AS bad
  FROM u
  GROUP BY place, service_name
), a AS (
  SELECT place, sum(spans) AS spans, sum(bad) AS bad
  FROM t
  GROUP BY place
)
SELECT u.place AS place, u.place_value AS place_value, count(*) AS services, ${write.countIf(isWorse)} AS worse, sum(u.spans) AS spans, sum(u.bad) AS bad, min(a.spans) - sum(u.spans) AS spans_elsewhere, min(a.bad) - sum(u.bad) AS bad_elsewhere, sum(u.spans_before) AS spans_before, sum(u.bad_before) AS bad_before
FROM u JOIN t ON t.place = u.place AND t.service_name = u.service_name JOIN a ON a.place = u.place
GROUP BY u.place, u.place_value
HAVING ${write.countIf(isWorse)} >= ${fewestServices}
ORDER BY sum(u.bad) DESC, u.place, u.place_value
LIMIT 50`;
  const { rows, ...finding } = yield* notebook.ask({
    question: 'Do the slow and failing spans of several services share a host or a zone?',
    sql,
    window: windows.now,
    judge(answer) {
      const place = read(answer);
      return listed(place ? [describe(place)] : [], 'They share none.');
    },
  });
  return { ...finding, place: read(rows) };
}

function read(rows: readonly Row[]): Place | undefined {
  const [most] = rows
    .map((row): Place => ({
      key: row.text('place'),
      value: row.text('place_value'),
      there: { hits: row.number('bad'), total: row.number('spans') },
      elsewhere: { hits: row.number('bad_elsewhere'), total: row.number('spans_elsewhere') },
      before: { hits: row.number('bad_before'), total: row.number('spans_before') },
      services: row.number('services'),
      worse: row.number('worse'),
    }))
    .filter(
      ({ there, elsewhere, before, services, worse }) =>
        worse >= leastOfServices * services &&
        ofBad({ there, elsewhere }) >= leastOfBad &&
        rate(there) >= 2 * rate(before) &&
        twoProportionZ(there, before) >= 5 &&
        twoProportionZ(there, elsewhere) >= 5,
    )
    .toSorted((a, b) => rate(b.there) * ofBad(b) - rate(a.there) * ofBad(a));
  return most;
}

/** The place's part of all slow or failing spans. */
export function ofBad({ there, elsewhere }: Pick<Place, 'there' | 'elsewhere'>): number {
  return rate({ hits: there.hits, total: there.hits + elsewhere.hits });
}

export function describe(place: Place): string {
  const { key, value, there, elsewhere, before, worse } = place;
  return `${percent(rate(there))} of the spans on ${code(`${key}=${value}`, 120)} are slow or fail by themselves (${percent(rate(before))} before), in ${worse} services, and ${percent(rate(elsewhere))} elsewhere`;
}
