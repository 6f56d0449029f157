import type { Result } from './stage.ts';

/* Results as the gateway gives them, for what is asked of a view whatever it is given. */

type Fields = Readonly<Record<string, unknown>>;

export const fallback = 'the text form';

export function resultOf(structuredContent: unknown): Result {
  return { content: [{ type: 'text', text: fallback }], structuredContent };
}

const begin = Date.parse('2026-11-26T12:00:00Z');
export const at = (minutes: number): string => new Date(begin + minutes * 60_000).toISOString();

function column(name: string): Fields {
  const type = /time|bucket/.test(name) ? 'TIMESTAMP' : /nano|count|value|_ms/.test(name) ? 'BIGINT' : 'VARCHAR';
  return { name, type };
}

export function queried(names: readonly string[], rows: readonly (readonly unknown[])[]): Fields {
  return {
    row_count: rows.length,
    truncated: false,
    warnings: ['Something is odd.'],
    window: { start: at(0), end: at(60), source: 'argument' },
    dialect: 'duckdb',
    elapsed_ms: 3,
    columns: names.map(column),
    rows,
  };
}

export const spanNames = [
  'time',
  'trace_id',
  'span_id',
  'parent_span_id',
  'duration_nano',
  'service_name',
  'name',
  'kind',
  'status_code',
  'status_message',
];

/** A tree of so many spans. */
export function spansOf(count: number): readonly (readonly unknown[])[] {
  return Array.from({ length: count }, (_, index) => [
    new Date(begin + index).toISOString(),
    't',
    `s${index}`,
    index === 0 ? '' : `s${Math.floor((index - 1) / 3)}`,
    String((count + 10 - index) * 1_000_000),
    `service ${index % 7}`,
    `operation ${index}`,
    'SERVER',
    index % 50 === 7 ? 'ERROR' : 'OK',
    index % 50 === 7 ? 'declined' : '',
  ]);
}

/** One point a second. */
export function pointsOf(count: number): readonly (readonly unknown[])[] {
  return Array.from({ length: count }, (_, index) => [
    new Date(begin + index * 1_000).toISOString(),
    String(100 + ((index * 7_919) % 50)),
  ]);
}

const step: Fields = {
  evidence_id: 'E1',
  question: 'Which requests fail in `shop`?',
  observation: 'Those of **amex**.',
  verdict: 'supports',
  row_count: 2,
  sql: 'SELECT 1',
  dialect: 'duckdb',
  window: { start: at(0), end: at(60) },
  columns: ['service_name', 'name', 'spans', 'slow_spans', 'p95_nano', 'p95_before_nano'],
  rows: [
    ['shop', 'buy', '100', '20', '90000000', '20000000'],
    ['bank', 'charge', '50', '20', '80000000', '10000000'],
  ],
};

const incident: Fields = {
  incident: {
    id: 'inc_1',
    key: 'INC-1',
    title: 'Checkout fails',
    status: 'identified',
    severity: 'high',
    waiting_on: { party: 'human', name: 'ada@example.com', reason: 'Decide.', since: at(20) },
    services: ['shop', 'bank'],
    cause: { text: '`bank` 2.0 was deployed', service: 'bank', category: 'deploy', confidence: 'high' },
    started_at: at(5),
    detected_at: at(7),
    mitigated_at: at(30),
    resolved_at: at(50),
    url: 'https://sightline.example/incidents/INC-1',
  },
  document: { markdown: '## Summary\n\n- One `thing`\n\n```sql\nSELECT 1\n```\n', version: 2 },
  investigation: {
    status: 'completed',
    engine: 'playbook',
    conclusion: { root_cause: 'bank', service: 'bank', suspects: [{ service: 'bank', why: 'new' }], onset: at(5) },
    claims: [{ text: 'It is `bank`.', status: 'supported', evidence_ids: ['E1'] }],
    steps: [step],
  },
  alerts: [{ title: 'High errors', status: 'resolved', severity: 'high', starts_at: at(6), ends_at: at(40) }],
  chats: [],
  notes: ['1 of 2 steps are shown.'],
};

const chat: Fields = {
  chat: { id: 'chat_1', title: 'Why?', status: 'running', url: 'https://sightline.example/chats/chat_1' },
  messages: [
    {
      id: 'msg_1',
      seq: 1,
      role: 'user',
      author: { kind: 'user', id: 'u', name: 'ada@example.com' },
      time: at(1),
      content: 'Why?',
      parts: [],
    },
  ],
  notes: [],
};

/** One of each shape that a view draws. */
export const samples: Readonly<Record<string, Fields>> = {
  table: queried(
    ['name', 'attributes'],
    [
      ['a', { b: 1 }],
      ['c', null],
    ],
  ),
  bars: queried(
    ['service_name', 'span_count'],
    [
      ['shop', '12'],
      ['bank', '3'],
    ],
  ),
  series: queried(
    ['bucket', 'route', 'p95_ms'],
    [
      [at(0), '/a', 3],
      [at(5), '/a', 5],
      [at(0), '/b', 1],
      [at(5), '/b', 2],
    ],
  ),
  trace: queried(spanNames, spansOf(9)),
  one: queried(['span_count'], [['42']]),
  none: queried(['span_count'], []),
  incident,
  chat,
};

/** The value with each of its texts replaced. */
export function withTexts(value: unknown, text: (was: string) => string): unknown {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return value.map((item) => withTexts(item, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withTexts(inner, text)]));
}

const spoilers: readonly unknown[] = [undefined, null, -1, 'x', [null], {}];

/** The value many times, each time with one part of it left out or of another kind. */
export function* spoiled(value: unknown, put: (part: unknown) => unknown = (part) => part): Generator<unknown> {
  for (const spoiler of spoilers) yield put(spoiler);
  if (Array.isArray(value)) {
    for (const [index, item] of value.slice(0, 3).entries())
      yield* spoiled(item, (part) => put(value.with(index, part)));
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) yield* spoiled(inner, (part) => put({ ...value, [key]: part }));
  }
}
