import { code, moment } from '../quote.ts';
import type { Step } from '../step.ts';
import type { Scene } from '../scene.ts';
import { usual } from '../stretches.ts';
import { eitherWindow, isBefore, onlyFocus, within } from '../sql.ts';

export interface NewVersion {
  readonly service: string;
  readonly version: string;
  readonly firstSeen: Date | undefined;
}

export interface Versions {
  readonly evidenceId: string;
  readonly failed: boolean;
  readonly added: readonly NewVersion[];
}

/** Which versions of services were first seen now: a deployment is the first suspect. */
export async function* newVersions({ notebook, write, windows, focus }: Scene): Step<Versions | undefined> {
  if (usual(windows).length === 0) return undefined;
  const now = write.countIf(within(write, 'time', windows.now));
  const before = write.countIf(isBefore(write, 'time', windows));
  const sql = `SELECT service_name, service_version, ${now} AS spans, min(time) AS first_seen
FROM otel.spans
WHERE ${eitherWindow(write, 'time', windows)} AND service_version <> ''${onlyFocus(write, focus)}
GROUP BY service_name, service_version
HAVING ${before} = 0 AND ${now} > 0
ORDER BY min(time), service_name
LIMIT 50`;
  const evidence = yield* notebook.ask({
    question: 'Which versions of services are new?',
    sql,
    window: windows.now,
    judge(rows) {
      if (rows.length === 0)
        return { observation: 'No service has a version that was not there before.', verdict: 'refutes' };
      const list = rows.slice(0, 5).map((row) => {
        const seen = row.time('first_seen');
        return `${code(row.text('service_name'), 60)} ${code(row.text('service_version'), 60)}${seen ? ` from ${moment(seen)}` : ''}`;
      });
      return { observation: `New: ${list.join('; ')}.`, verdict: 'supports' };
    },
  });
  return {
    evidenceId: evidence.id,
    failed: evidence.failed,
    added: evidence.rows.map((row) => ({
      service: row.text('service_name'),
      version: row.text('service_version'),
      firstSeen: row.time('first_seen'),
    })),
  };
}
