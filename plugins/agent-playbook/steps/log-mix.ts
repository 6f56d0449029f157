import type { Step } from '../step.ts';
import type { Scene } from '../scene.ts';
import { chunk, eitherWindow, isBefore, logTemplate, onlyFocus, within } from '../sql.ts';
import { compareBehaviour } from './behaviour.ts';
import type { Behaviours } from './behaviour.ts';

/**
 * Of what a service logs, which kinds of lines come more or less often: for lines that belong to no span. Counted once per
 * trace where lines name theirs, else line by line. A service whose requests can be told by their lines is left out unless
 * somebody says that something is wrong: what else it logs, its collector and its timers say, and that changes by itself.
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
