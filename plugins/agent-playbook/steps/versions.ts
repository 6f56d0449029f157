import { code, eitherWindow, isBefore, moment, onlyFocus, within } from '../sql.ts';
import { listed, type Finding, type Row } from '../notebook.ts';
import type { Scene, Step } from '../scene.ts';

export interface Version {
  readonly service: string;
  readonly version: string;
  readonly first: Date;
  /** The one that the service ran longest before; empty where it is the first of all. */
  readonly previous: string;
}

export interface Versions extends Finding {
  /** All that ran, by service. */
  readonly running: readonly Pick<Version, 'service' | 'version'>[];
  /** Those that came now, first seen first: a deployment is the first suspect. */
  readonly added: readonly Version[];
}

/** Which versions of services ran, and which of them were not there before; the first of a stretch without a before is not new. */
export async function* newVersions(
  scene: Pick<Scene, 'notebook' | 'write' | 'windows'> & Partial<Pick<Scene, 'focus'>>,
): Step<Versions> {
  const { notebook, write, windows, focus } = scene;
  const now = write.countIf(within(write, 'time', windows.now));
  const before = write.countIf(isBefore(write, 'time', windows));
  const sql = `SELECT service_name, service_version, ${now} AS spans, ${before} AS spans_before, min(time) AS first_seen
FROM otel.spans
WHERE ${eitherWindow(write, 'time', windows)} AND service_version <> ''${focus === undefined ? '' : onlyFocus(write, focus)}
GROUP BY service_name, service_version
ORDER BY CASE WHEN ${before} = 0 THEN 0 ELSE 1 END, min(time), service_name, service_version
LIMIT 50`;
  const { rows, ...finding } = yield* notebook.ask({
    question: 'Which versions of services are new?',
    sql,
    window: windows.now,
    judge: (answer) =>
      listed(added(answer).slice(0, 5).map(describeVersion), 'No service has a version that was not there before.'),
  });
  const running = rows.map((row) => ({ service: row.text('service_name'), version: row.text('service_version') }));
  return { ...finding, running, added: added(rows) };
}

function added(rows: readonly Row[]): readonly Version[] {
  const isOld = rows.some((row) => row.number('spans_before') > 0);
  return rows
    .flatMap((row) => {
      const [service, version, first] = [row.text('service_name'), row.text('service_version'), row.time('first_seen')];
      const [previous] = rows
        .filter((other) => other.text('service_name') === service && other.text('service_version') !== version)
        .toSorted((a, b) => (a.time('first_seen')?.getTime() ?? 0) - (b.time('first_seen')?.getTime() ?? 0));
      const since = previous?.time('first_seen');
      const isNew =
        row.number('spans_before') === 0 && (isOld || (since !== undefined && first !== undefined && since < first));
      return isNew && first !== undefined
        ? [{ service, version, first, previous: previous?.text('service_version') ?? '' }]
        : [];
    })
    .toSorted((a, b) => a.first.getTime() - b.first.getTime());
}

export function describeVersion({ service, version, first, previous }: Version): string {
  const after = previous === '' ? '' : ` (${code(previous, 60)} before)`;
  return `${code(service, 60)} ${code(version, 60)}, first seen at ${moment(first)}${after}`;
}
