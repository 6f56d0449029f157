import { chunk, eitherWindow, isBefore, logTemplate, onlyFocus, within } from '../sql.ts';
import type { Scene, Step } from '../scene.ts';
import { compareBehaviour, type Behaviours } from './behaviour.ts';

/**
 * Kinds of log lines outside spans that became more or less frequent. Counted once per trace if lines name their trace, else
 * line by line. A service whose request lines are recognized is left out unless a person reported a problem: its other lines
 * come from garbage collectors and timers, and vary without a fault.
 */
export async function* logMix(scene: Scene): Step<Behaviours> {
  const { write, windows, focus, said, templates } = scene;
  const times = (side: string, name: string) =>
    `CASE WHEN trace_id = '' THEN ${write.countIf(side)} ELSE max(CASE WHEN ${side} THEN 1 ELSE 0 END) END AS ${name}`;
  const part = chunk(write, 'time', windows);
  const apart = `CASE WHEN trace_id = '' THEN ${part} END`;
  const [now, before] = [within(write, 'time', windows.now), isBefore(write, 'time', windows)];
  const both = eitherWindow(write, 'time', windows);
  const telling = `SELECT service_name FROM otel.logs WHERE ${both} AND span_id <> ''`;
  const wanted = `${both}${onlyFocus(write, focus)}${said ? '' : ` AND service_name NOT IN (${telling})`}`;
  const items = `SELECT service_name, '' AS operation, pattern, trace_id, 1 AS times, min(${part}) AS chunk, ${times(now, 'is_now')}, ${times(before, 'is_before')}
  FROM (
    SELECT service_name, trace_id, time, ${logTemplate(write, 'body', templates)} AS pattern
    FROM otel.logs
    WHERE ${wanted}
  ) l
  GROUP BY service_name, pattern, trace_id, ${apart}`;
  const units = `SELECT service_name, '' AS operation, chunk, sum(seen) AS spans, sum(seen_before) AS spans_before
  FROM (
    SELECT service_name, trace_id, min(${part}) AS chunk, ${times(now, 'seen')}, ${times(before, 'seen_before')}
    FROM otel.logs
    WHERE ${wanted}
    GROUP BY service_name, trace_id, ${apart}
  ) u
  GROUP BY service_name, chunk`;
  const question = 'Which kinds of log lines come more or less often among those of their service than before?';
  return yield* compareBehaviour(scene, { kind: 'line', question, items, units });
}
