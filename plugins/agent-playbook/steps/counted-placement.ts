import { code, within } from '../sql.ts';
import { hourBefore, listed, type Row } from '../notebook.ts';
import type { Scene, Step } from '../scene.ts';
import { keys } from './placement.ts';
import { lines, reports, type Source } from './request-counts.ts';

/** A host or zone on which several services fail or take longer than elsewhere, by what they count. */
export interface CountedPlace {
  readonly value: string;
  readonly detail: string;
  readonly evidenceId: string;
}

/** Several services and more than half of those there, each so many times worse than elsewhere. */
const [fewestServices, leastOfServices, timesElsewhere] = [3, 0.5, 3];
/** Of the requests there that fail beyond the usual, and of the time that they took before. */
const [leastFailing, leastAdded, leastSeconds] = [0.08, 0.4, 0.005];

/** The host or zone that services share which fail or take longer there and not elsewhere. */
export async function* countedPlacement(scene: Scene, source: Source): Step<CountedPlace | undefined> {
  const { notebook, write, windows } = scene;
  const { now } = windows;
  const before = hourBefore(windows);
  const range = { start: before.start, end: now.end };
  const columns = keys.map((_, index) => `place_${index}`);
  const [isNow, isBefore] = [within(write, 'time', now), within(write, 'time', before)];
  const sums = [source === 'logs' ? 'n' : 'n * counts', 'n * failed', 's'].flatMap((value, index) => [
    `sum(CASE WHEN ${isNow} THEN ${value} ELSE 0 END) AS now_${index}`,
    `sum(CASE WHEN ${isBefore} THEN ${value} ELSE 0 END) AS before_${index}`,
  ]);
  const names = [0, 1, 2].flatMap((index) => [`now_${index}`, `before_${index}`]);
  const perRequest = (of: (name: string) => string, index: number) =>
    `(COALESCE(${write.ratio(of(`now_${index}`), of('now_0'))}, 0) - COALESCE(${write.ratio(of(`before_${index}`), of('before_0'))}, 0))`;
  const [there, elsewhere] = [(name: string) => `u.${name}`, (name: string) => `(v.${name} - u.${name})`];
  const usual = `COALESCE(${write.ratio('u.before_2', 'u.before_0')}, 0)`;
  const apart = (index: number) => `w.there_${index} >= ${timesElsewhere} * w.elsewhere_${index}`;
  const isWorse = `((w.there_1 >= ${leastFailing} AND ${apart(1)}) OR (w.there_2 >= ${leastSeconds} AND w.there_2 >= ${leastAdded} * w.usual AND w.usual > 0 AND ${apart(2)}))`;
  const sql = `WITH ${source === 'logs' ? lines(scene, range) : reports(scene, range, columns)}, u AS (
  ${keys.map((key, index) => `SELECT ${write.literal(key)} AS place, place_${index} AS place_value, service_name, ${sums.join(', ')} FROM d WHERE peer = '' AND metric <> 'counters' AND place_${index} <> '' GROUP BY place_${index}, service_name`).join('\n  UNION ALL ')}
), v AS (
  SELECT place, service_name, ${names.map((name) => `sum(${name}) AS ${name}`).join(', ')}
  FROM u
  GROUP BY place, service_name
), w AS (
  SELECT u.place AS place, u.place_value AS place_value, ${usual} AS usual, ${[1, 2].map((index) => `${perRequest(there, index)} AS there_${index}, ${perRequest(elsewhere, index)} AS elsewhere_${index}`).join(', ')}
  FROM u JOIN v ON v.place = u.place AND v.service_name = u.service_name
  WHERE u.now_0 > 0 AND u.before_0 > 0 AND v.now_0 > u.now_0
)
SELECT w.place AS place, w.place_value AS place_value, count(*) AS services, ${write.countIf(isWorse)} AS worse
FROM w
GROUP BY w.place, w.place_value
HAVING ${write.countIf(isWorse)} >= ${fewestServices}
ORDER BY worse DESC, services, place, place_value
LIMIT 50`;
  const { rows, evidenceId } = yield* notebook.ask({
    question: `Do several services fail or take longer on one host or zone alone, by ${source === 'logs' ? 'the lines that they log' : 'what they count'}?`,
    sql,
    window: range,
    judge: (answer) => listed(read(answer).slice(0, 3).map(describe), 'They do on none.'),
  });
  const places = read(rows);
  // What happens on one host shows in its zone too, in no more services.
  const most = places.filter((place) => place.number('worse') === places[0]?.number('worse'));
  const [row] = keys.flatMap((key) => most.filter((place) => place.text('place') === key));
  return row && { value: row.text('place_value'), detail: describe(row), evidenceId };
}

function read(rows: readonly Row[]): readonly Row[] {
  return rows.filter((row) => row.number('worse') >= leastOfServices * row.number('services'));
}

function describe(row: Row): string {
  const place = code(`${row.text('place')}=${row.text('place_value')}`, 120);
  return `On ${place} ${row.number('worse')} of ${row.number('services')} services fail or take longer than before, and elsewhere they do not`;
}
