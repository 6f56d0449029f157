import { code, milliseconds } from '../quote.ts';
import type { Row } from '../notebook.ts';
import type { Scene, Step } from '../scene.ts';
import { within } from '../sql.ts';
import type { ErrorOrigin } from './error-origins.ts';

export interface Callee {
  /** Empty when no span of a callee was sent. */
  readonly service: string;
  /** A database or host, from the caller's attributes. */
  readonly dependency: string;
  readonly calls: number;
}

export interface Callees {
  readonly evidenceId: string;
  readonly callees: readonly Callee[];
}

/** What an outgoing call that failed was going to: a service that did not notice, or something that sends no telemetry. */
export async function* callees(scene: Scene, caller: ErrorOrigin): Step<Callees> {
  const { notebook, write, windows } = scene;
  const window = within(write, 'time', windows.now).slice(1, -1);
  const attribute = (key: string) => `COALESCE(min(${write.attribute('e.attributes', key)}), '')`;
  const sql = `SELECT COALESCE(c.service_name, '') AS callee, ${attribute('db.system')} AS db_system, ${attribute('db.system.name')} AS db_system_name, ${attribute('peer.service')} AS peer_service, ${attribute('server.address')} AS server_address,
  count(*) AS calls, ${write.quantile('e.duration_nano', 0.5)} AS median_call_nano, COALESCE(max(c.duration_nano), 0) AS longest_callee_nano
FROM (
  SELECT trace_id, span_id, attributes, duration_nano
  FROM otel.spans
  WHERE ${window} AND service_name = ${write.literal(caller.service)} AND name = ${write.literal(caller.operation)} AND status_code = 'ERROR'
) e LEFT JOIN (
  SELECT trace_id, parent_span_id, service_name, duration_nano
  FROM otel.spans
  WHERE ${window} AND service_name <> ${write.literal(caller.service)}
) c ON c.trace_id = e.trace_id AND c.parent_span_id = e.span_id
GROUP BY COALESCE(c.service_name, '')
ORDER BY count(*) DESC
LIMIT 20`;
  const evidence = yield* notebook.ask({
    question: `What do the failing calls ${code(caller.operation, 80)} of ${code(caller.service, 60)} go to?`,
    sql,
    window: windows.now,
    judge(rows) {
      const [first] = rows;
      if (!first) return { observation: 'The calls name nothing.', verdict: 'neutral' };
      const { service, dependency } = read(first);
      const target =
        service !== ''
          ? `the service ${code(service, 60)}, whose span did not fail (at most ${milliseconds(first.number('longest_callee_nano'))})`
          : dependency === ''
            ? 'something that sends no spans and is not named'
            : `${code(dependency, 80)}, which sends no spans`;
      return {
        observation: `They go to ${target}; the call takes ${milliseconds(first.number('median_call_nano'))} at the median.`,
        verdict: 'supports',
      };
    },
  });
  return { evidenceId: evidence.id, callees: evidence.rows.map(read) };
}

function read(row: Row): Callee {
  const names = ['peer_service', 'server_address', 'db_system_name', 'db_system'].map((column) => row.text(column));
  return {
    service: row.text('callee'),
    dependency: names.find((name) => name !== '') ?? '',
    calls: row.number('calls'),
  };
}
