import { post } from '../client.ts';
import { noted, runLine, type LoadContext } from './line.ts';

const recordsARequest = 5;

/** Sends numbered spans and logs. No name is sent twice: whether an unacknowledged request was stored nobody knows. */
export function telemetry(context: LoadContext, line: number): Promise<void> {
  const { stage, ledger, ingestToken } = context;
  const headers = { 'x-api-key': ingestToken, 'content-type': 'application/json' };
  return runLine(context, 120, async (turn) => {
    const names = Array.from({ length: recordsARequest }, (_, index) => `${line}.${turn}.${index}`);
    const [path, book, body] =
      turn % 2 === 0
        ? (['/v1/traces', ledger.spans, spansNamed(names)] as const)
        : (['/v1/logs', ledger.logs, logsNamed(names)] as const);
    for (const name of names) book.sent(name);
    const { status, replica } = await noted(
      context,
      `OTLP ${path}`,
      () => post(`${stage.url}${path}`, headers, body),
      (answer) => (answer.status === 200 ? undefined : `${answer.status} ${answer.body.slice(0, 300)}`),
    );
    if (status === 200) for (const name of names) book.acknowledged(name, replica);
  });
}

const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'chaos' } }] };
const now = (): string => String(BigInt(Date.now()) * 1_000_000n);

const ids = { traceId: 'a1'.repeat(16), spanId: 'b2'.repeat(8) };

function spansNamed(names: readonly string[]): string {
  const spans = names.map((name) => ({ ...ids, name, startTimeUnixNano: now() }));
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
}

function logsNamed(names: readonly string[]): string {
  const logRecords = names.map((name) => ({ body: { stringValue: name }, timeUnixNano: now() }));
  return JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] });
}
