import { code, eitherWindow, isBefore, percent, within } from '../sql.ts';
import { listed, type Row } from '../notebook.ts';
import { joined } from '../sample.ts';
import type { Scene, Step } from '../scene.ts';

/** Who takes most of what others wait for, and did not before. */
export interface Load {
  readonly service: string;
  /** What it burdens. */
  readonly on: string;
  /** Of the time that it works for all its callers. */
  readonly share: number;
  readonly shareBefore: number;
  readonly calls: number;
  readonly callsBefore: number;
  readonly evidenceId: string;
}

const leastShare = 0.3;
const grown = 3;

/** What is slow: a service, or something that sends no spans. */
export interface Burdened {
  readonly service: string;
  readonly dependency: string;
}

/** Who asks more of it than before: a job that is new, or a caller that does more. One that asks all the time as before is none. */
export async function* load(scene: Scene, { service, dependency }: Burdened): Step<Load | undefined> {
  const { notebook, write, windows } = scene;
  const scope = (column: string) => eitherWindow(write, column, windows);
  const target = write.literal(dependency);
  const keys = ['server.address', 'peer.service', 'db.system.name', 'db.system'];
  const asked =
    dependency === ''
      ? `SELECT p.service_name AS caller, s.time AS time, s.duration_nano AS duration_nano
  FROM otel.spans s JOIN otel.spans p ON p.trace_id = s.trace_id AND p.span_id = s.parent_span_id
  WHERE ${scope('s.time')} AND ${scope('p.time')}${joined(scene, 's.trace_id')}${joined(scene, 'p.trace_id')} AND s.service_name = ${write.literal(service)} AND p.service_name <> s.service_name AND s.kind <> 'CONSUMER'`
      : `SELECT service_name AS caller, time, duration_nano
  FROM otel.spans
  WHERE ${scope('time')}${joined(scene)} AND kind = 'CLIENT' AND (${keys.map((key) => `${write.attribute('attributes', key)} = ${target}`).join(' OR ')})`;
  const [now, before] = [within(write, 'time', windows.now), isBefore(write, 'time', windows)];
  const busy = (side: string) => `sum(CASE WHEN ${side} THEN duration_nano ELSE 0 END)`;
  const sql = `SELECT caller, ${write.countIf(now)} AS calls, ${write.countIf(before)} AS calls_before, ${busy(now)} AS busy_nano, ${busy(before)} AS busy_before_nano
FROM (
  ${asked}
) c
GROUP BY caller
ORDER BY ${busy(now)} DESC, caller
LIMIT 50`;
  const on = dependency === '' ? service : dependency;
  const { rows, evidenceId } = yield* notebook.ask({
    question: `Who asks more of ${code(on, 80)} than before?`,
    sql,
    window: windows.now,
    judge(answer) {
      const found = read(answer);
      return listed(found ? [describe({ ...found, on })] : [], 'Nobody does: its callers share it as before.');
    },
  });
  const found = read(rows);
  return found && found.service !== service ? { ...found, on, evidenceId } : undefined;
}

function read(rows: readonly Row[]): Burdening | undefined {
  return burdening(
    rows.map((row) => ({
      service: row.text('caller'),
      busy: row.number('busy_nano'),
      busyBefore: row.number('busy_before_nano'),
      calls: row.number('calls'),
      callsBefore: row.number('calls_before'),
    })),
  );
}

type Burdening = Omit<Load, 'on' | 'evidenceId'>;

/** The caller that takes far more of the time of what they all ask than before. */
export function burdening(
  askers: readonly (Omit<Burdening, 'share' | 'shareBefore'> & Readonly<Record<'busy' | 'busyBefore', number>>)[],
): Burdening | undefined {
  const total = (which: 'busy' | 'busyBefore') => askers.reduce((sum, asker) => sum + asker[which], 0);
  const [all, allBefore] = [total('busy'), total('busyBefore')];
  // Who is alone with it shares it with nobody, before and now.
  if (askers.length < 2 || all === 0 || allBefore === 0) return undefined;
  return askers
    .map(({ busy, busyBefore, ...asker }) => ({ ...asker, share: busy / all, shareBefore: busyBefore / allBefore }))
    .find(({ share, shareBefore }) => share >= leastShare && share >= grown * shareBefore);
}

export function describe({ service, on, share, shareBefore, calls, callsBefore }: Omit<Load, 'evidenceId'>): string {
  return `${code(service, 60)} takes ${percent(share)} of the time that ${code(on, 80)} works for its callers, ${percent(shareBefore)} before (${calls} calls, ${callsBefore} before)`;
}
