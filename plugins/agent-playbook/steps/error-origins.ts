import {
  code,
  eitherWindow,
  exceptionText,
  firstAttribute,
  httpStatus,
  inList,
  isBefore,
  masked,
  onlyFocus,
  statusText,
  within,
} from '../sql.ts';
import type { Finding, Row } from '../notebook.ts';
import type { Step, Scene } from '../scene.ts';
import { twoProportionZ } from '../statistics.ts';

export interface ErrorOrigin {
  readonly service: string;
  readonly operation: string;
  readonly kind: string;
  /** What it says, numbers and ids masked. */
  readonly message: string;
  readonly errors: number;
  readonly excess: number;
  /** More often than chance makes what always fails a little fail. */
  readonly risen: boolean;
}

export interface ErrorOrigins extends Finding {
  /** Most excess first; only those with any. */
  readonly origins: readonly ErrorOrigin[];
  /** Of all origins together. */
  readonly excess: number;
  /** SQL of what a failed span says, by which they were told apart. */
  readonly failureText: string;
}

const leastZ = 3;

const rpcStatus = ['rpc.response.status_code', 'rpc.grpc.status_code'];

/**
 * Where failures begin: failed spans without failed children. Their callers only pass the failure on. So does a call that was
 * answered with an error by a server that met a failure itself: OpenTelemetry leaves that server's span unset below 500.
 */
export async function* errorOrigins(scene: Scene): Step<ErrorOrigins> {
  const plain = yield* originsBy(scene, statusText);
  if (plain.origins.every(({ message }) => message !== '')) return plain;
  const told = yield* originsBy(scene, exceptionText(scene.write));
  return told.origins.some(({ message }) => message !== '') ? told : plain;
}

async function* originsBy(scene: Scene, failureText: string): Step<ErrorOrigins> {
  const { notebook, write, windows, focus } = scene;
  const scope = eitherWindow(write, 'time', windows);
  const now = within(write, 'e.time', windows.now);
  const before = isBefore(write, 'e.time', windows);
  const [errors, errorsBefore] = [write.countIf(now), write.countIf(before)];
  const throughFocus =
    focus.services.length > 0 && !focus.only
      ? ` AND trace_id IN (SELECT trace_id FROM otel.spans WHERE ${scope} AND ${inList(write, 'service_name', focus.services)})`
      : '';
  const of = (keys: readonly string[]): string => firstAttribute(write, 'attributes', keys);
  const wasAnswered = `kind = 'CLIENT' AND (${write.matches(of(httpStatus), '^[45]')} OR ${of(rpcStatus)} NOT IN ('', '0', 'OK'))`;
  // As many as before for as much work is no news, however much more work there is.
  const expected = `${errorsBefore} * COALESCE(${write.ratio('min(n.spans)', 'min(n.spans_before)')}, 0)`;
  const sql = `WITH n AS (
  SELECT service_name, name, kind, ${write.countIf(within(write, 'time', windows.now))} AS spans, ${write.countIf(isBefore(write, 'time', windows))} AS spans_before
  FROM otel.spans
  WHERE ${scope}${onlyFocus(write, focus)}
  GROUP BY service_name, name, kind
)
SELECT e.service_name AS service_name, e.name AS name, e.kind AS kind, e.message AS message, ${errors} AS errors, ${errorsBefore} AS errors_before, ${errors} - ${expected} AS excess, min(n.spans) AS spans, min(n.spans_before) AS spans_before
FROM (
  SELECT service_name, name, kind, time, trace_id, span_id, CASE WHEN ${wasAnswered} THEN 1 ELSE 0 END AS answered, ${masked(write, failureText, 160)} AS message
  FROM otel.spans
  WHERE ${scope} AND status_code = 'ERROR'${onlyFocus(write, focus)}${throughFocus}
) e LEFT JOIN (
  SELECT trace_id, parent_span_id, count(*) AS failed_children
  FROM otel.spans
  WHERE ${scope} AND status_code = 'ERROR' AND parent_span_id <> ''
  GROUP BY trace_id, parent_span_id
) c ON c.trace_id = e.trace_id AND c.parent_span_id = e.span_id LEFT JOIN (
  SELECT p.trace_id AS trace_id, p.parent_span_id AS parent_span_id, count(*) AS failed_beneath
  FROM otel.spans p JOIN otel.spans f ON f.trace_id = p.trace_id AND f.parent_span_id = p.span_id
  WHERE ${eitherWindow(write, 'p.time', windows)} AND ${eitherWindow(write, 'f.time', windows)} AND p.kind = 'SERVER' AND p.status_code <> 'ERROR' AND p.parent_span_id <> '' AND f.status_code = 'ERROR'
  GROUP BY p.trace_id, p.parent_span_id
) b ON b.trace_id = e.trace_id AND b.parent_span_id = e.span_id JOIN n ON n.service_name = e.service_name AND n.name = e.name AND n.kind = e.kind
WHERE COALESCE(c.failed_children, 0) = 0 AND NOT (e.answered = 1 AND COALESCE(b.failed_beneath, 0) > 0)
GROUP BY e.service_name, e.name, e.kind, e.message
ORDER BY ${errors} - ${expected} DESC, e.service_name, e.name, e.message
LIMIT 50`;
  const read = (row: Row): ErrorOrigin => ({
    service: row.text('service_name'),
    operation: row.text('name'),
    kind: row.text('kind'),
    message: row.text('message'),
    errors: row.number('errors'),
    excess: row.number('excess'),
    risen:
      twoProportionZ(
        { hits: row.number('errors'), total: row.number('spans') },
        { hits: row.number('errors_before'), total: row.number('spans_before') },
      ) >= leastZ,
  });
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: `In which service do the failures begin${failureText === statusText ? '' : ', by the exceptions that they record'}?`,
    sql,
    window: windows.now,
    judge(rows) {
      const first = rows.map(read).find(({ excess }) => excess > 0);
      if (!first) return { observation: 'No failure begins more often than before.', verdict: 'refutes' };
      return {
        observation: `Most failures begin in ${code(first.service, 60)} at ${code(first.operation, 80)} (${first.errors} spans), whose own children did not fail${first.message === '' ? '' : `; they say ${code(first.message)}`}.`,
        verdict: 'supports',
      };
    },
  });
  const origins = answer.map(read).filter(({ excess }) => excess > 0);
  return {
    ...finding,
    failureText,
    origins,
    excess: origins.reduce((sum, origin) => sum + origin.excess, 0),
  };
}
