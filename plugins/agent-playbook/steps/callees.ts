import { code, milliseconds, within } from '../sql.ts';
import type { Finding, Row } from '../notebook.ts';
import type { Step, Scene } from '../scene.ts';
import { joined } from '../sample.ts';

export interface Callee {
  /** Empty when no span of a callee was sent. */
  readonly service: string;
  /** A database or host, from the caller's attributes. */
  readonly dependency: string;
}

export interface Callees extends Finding {
  readonly callees: readonly Callee[];
}

/** Outgoing calls of one service under one name, those that failed or all of them. */
export interface Calls {
  readonly service: string;
  readonly operation: string;
  readonly failed: boolean;
}

/** What outgoing calls go to: a service that did not notice, or something that sends no telemetry. */
export async function* callees(scene: Scene, { service, operation, failed }: Calls): Step<Callees> {
  const { notebook, write, windows } = scene;
  const window = `${within(write, 'time', windows.now).slice(1, -1)}${joined(scene)}`;
  const attribute = (key: string) => `COALESCE(min(${write.attribute('e.attributes', key)}), '')`;
  const sql = `SELECT COALESCE(c.service_name, '') AS callee, ${attribute('db.system')} AS db_system, ${attribute('db.system.name')} AS db_system_name, ${attribute('peer.service')} AS peer_service, ${attribute('server.address')} AS server_address,
  count(*) AS calls, ${write.quantile('e.duration_nano', 0.5)} AS median_call_nano, COALESCE(${write.quantile('c.duration_nano', 0.5)}, 0) AS median_callee_nano
FROM (
  SELECT trace_id, span_id, attributes, duration_nano
  FROM otel.spans
  WHERE ${window} AND service_name = ${write.literal(service)} AND name = ${write.literal(operation)}${failed ? " AND status_code = 'ERROR'" : ''}
) e LEFT JOIN (
  SELECT trace_id, parent_span_id, service_name, duration_nano
  FROM otel.spans
  WHERE ${window} AND service_name <> ${write.literal(service)}
) c ON c.trace_id = e.trace_id AND c.parent_span_id = e.span_id
GROUP BY COALESCE(c.service_name, '')
ORDER BY count(*) DESC, COALESCE(c.service_name, '')
LIMIT 20`;
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: `What do the ${failed ? 'failing ' : ''}calls ${code(operation, 80)} of ${code(service, 60)} go to?`,
    sql,
    window: windows.now,
    judge(rows) {
      const [first] = rows;
      if (!first) return 'The calls name nothing.';
      const callee = read(first);
      const itself = milliseconds(first.number('median_callee_nano'));
      const target =
        callee.service !== ''
          ? `the service ${code(callee.service, 60)}, which takes ${itself} itself`
          : callee.dependency === ''
            ? 'something of which no span is there and which is not named'
            : `${code(callee.dependency, 80)}, of which no span is there`;
      return {
        observation: `A call takes ${milliseconds(first.number('median_call_nano'))} at the median. They go to ${target}.`,
        verdict: 'supports',
      };
    },
  });
  return { ...finding, callees: answer.map(read) };
}

function read(row: Row): Callee {
  const names = ['peer_service', 'server_address', 'db_system_name', 'db_system'].map((column) => row.text(column));
  return {
    service: row.text('callee'),
    dependency: names.find((name) => name !== '') ?? '',
  };
}
