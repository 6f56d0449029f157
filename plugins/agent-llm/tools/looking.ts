import { z } from 'zod';
import { newId } from '../../../src/contract/core/index.ts';
import { tableNames } from '../../../src/contract/telemetry/index.ts';
import { runBaseline } from '../journal.ts';
import { fence, plain } from '../plain.ts';
import { asked, lookingTool, readRange, timeRange } from './tool.ts';

const places = { start: '{start}', end: '{end}' };

export const queryOtel = lookingTool({
  name: 'query_otel',
  description:
    'Runs one read-only SQL SELECT over otel.spans, otel.logs, otel.metrics. Write the bounds of time as {start} and {end}: ' +
    'WHERE time >= {start} AND time < {end}. At most 50 rows come back: aggregate. Say in `expect` what would speak for ' +
    'what you suspect.',
  input: z.strictObject({
    question: z.string().min(3).max(300).describe('What this finds out, in one sentence'),
    sql: z.string().min(8).max(12_000),
    ...timeRange,
    expect: z.enum(['rows', 'no_rows', 'open']).default('open'),
  }),
  async *run({ question, sql, expect, ...times }, desk) {
    const window = readRange(times, desk);
    if (typeof window === 'string') return { text: window, failed: true };
    if (!sql.includes(places.start) || !sql.includes(places.end)) {
      return { text: 'The SQL must bound its time: time >= {start} AND time < {end}.', failed: true };
    }
    const { write } = desk.host.dialect;
    return yield* asked(desk, {
      question: plain(question, 300),
      sql: sql.replaceAll(places.start, write.literal(window.start)).replaceAll(places.end, write.literal(window.end)),
      window,
      expected: expect === 'open' ? undefined : expect,
    });
  },
});

/** The service samples the last day for keys. */
const day = 86_400_000;

export const describeTable = lookingTool({
  name: 'describe',
  description: 'The columns of a table with their meaning, or the attribute keys that occur in it.',
  input: z.strictObject({
    table: z.enum(tableNames),
    what: z.enum(['columns', 'attributes']),
    like: z
      .string()
      .regex(/^[\w.%/-]{1,80}$/)
      .optional()
      .describe("Of attributes: a LIKE pattern such as 'http.%'"),
  }),
  async *run({ table, what, like }, desk) {
    const { dialect, now } = desk.host;
    if (what === 'columns') {
      const columns = dialect.tables.find(({ name }) => name === table)?.columns ?? [];
      const lines = columns.map(({ name, type, description }) => `${name} ${dialect.typeName(type)} ${description}`);
      return { text: `otel.${table}\n${lines.join('\n')}\nAttributes: ${dialect.attributeHint}` };
    }
    const pattern = like === undefined ? '' : ` LIKE '${like}'`;
    return yield* asked(desk, {
      question: `Which attributes are there in \`otel.${table}\`?`,
      sql: `SHOW ATTRIBUTES FROM otel.${table}${pattern}`,
      window: { start: new Date(now().getTime() - day), end: now() },
    });
  },
});

export const listServices = lookingTool({
  name: 'list_services',
  description:
    'The services that send spans, with how many, how many of them failed, and the 95th percentile of their time.',
  input: z.strictObject(timeRange),
  async *run(times, desk) {
    const window = readRange(times, desk);
    if (typeof window === 'string') return { text: window, failed: true };
    const { write } = desk.host.dialect;
    return yield* asked(desk, {
      question: 'Which services send spans, and how many of them fail?',
      sql: `SELECT service_name, count(*) AS spans, ${write.countIf("status_code = 'ERROR'")} AS failed, ${write.quantile('duration_nano / 1e6', 0.95)} AS p95_ms
FROM otel.spans
WHERE time >= ${write.literal(window.start)} AND time < ${write.literal(window.end)}
GROUP BY service_name
ORDER BY failed DESC, spans DESC, service_name
LIMIT 50`,
      window,
    });
  },
});

export const traceTree = lookingTool({
  name: 'trace_tree',
  description: 'One trace, span by span: its first 50 by start, each with its parent.',
  input: z.strictObject({
    trace_id: z.string().regex(/^[0-9a-f]{32}$/, 'must be 32 lower-case hex digits'),
    ...timeRange,
  }),
  async *run({ trace_id: traceId, ...times }, desk) {
    const window = readRange(times, desk);
    if (typeof window === 'string') return { text: window, failed: true };
    const { write } = desk.host.dialect;
    return yield* asked(desk, {
      question: `What happens in trace \`${traceId}\`?`,
      sql: `SELECT time, service_name, name, kind, status_code, status_message, duration_nano, span_id, parent_span_id
FROM otel.spans
WHERE time >= ${write.literal(window.start)} AND time < ${write.literal(window.end)} AND trace_id = ${write.literal(traceId)}
ORDER BY time, span_id
LIMIT 50`,
      window,
    });
  },
});

const service = z.string().regex(/^[\p{L}\p{N}][\p{L}\p{N} ._/:@-]{0,99}$/u, 'must be the name of a service');

export const lookCloser = lookingTool({
  name: 'look_closer',
  description:
    'Has the playbook compare a stretch of time with the time before it, for some services or for all: failures, slowness, ' +
    'own time, calls, resources, log lines, when it began. Its steps become evidence.',
  input: z.strictObject({ services: z.array(service).max(5).default([]), ...timeRange }),
  async *run({ services, ...times }, desk) {
    const window = readRange(times, desk);
    if (typeof window === 'string') return { text: window, failed: true };
    const { assignment, baseline, journal, signal } = desk;
    const about = services.length === 0 ? '' : ` only with ${services.map((name) => `'${name}'`).join(' and ')}`;
    const content = `What is wrong${about} between ${window.start.toISOString()} and ${window.end.toISOString()}?`;
    const { organizationId, askedAt, evidenceAfter = 0 } = assignment;
    const asked = {
      organizationId,
      askedAt,
      evidenceAfter,
      steps: [],
      messages: [
        {
          id: newId('msg', askedAt.getTime()),
          seq: 1,
          role: 'user' as const,
          author: { kind: 'agent' as const, id: 'llm', name: 'llm' },
          time: askedAt,
          content,
          parts: [],
        },
      ],
    };
    const known = journal.steps.length;
    const end = yield* runBaseline(baseline, asked, journal, signal);
    const added = journal.steps.slice(known).map((step) => `${step.evidence_id} ${step.question}`);
    const found =
      end === undefined ? 'It was ended before its conclusion.' : end.type === 'question' ? end.question : end.answer;
    return { text: fence([found, '', 'New evidence:', ...added].join('\n')) };
  },
});
