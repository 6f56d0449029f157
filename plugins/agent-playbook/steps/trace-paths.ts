import { code, milliseconds, usualWindow, within } from '../sql.ts';
import { type Finding, type Row, usual } from '../notebook.ts';
import type { Step, Scene } from '../scene.ts';
import { criticalPath, type PathLink } from '../../../src/contract/telemetry/index.ts';
import { around, readExemplar, type Exemplar } from './exemplars.ts';

/** What the parts of one operation on the critical path have of their own. Milliseconds. */
type Link = Pick<PathLink, 'service' | 'operation' | 'self'>;

/** Two traces of one operation side by side, by what determines when they end. */
export interface TracePaths {
  readonly evidenceIds: readonly string[];
  /** Where most of the difference is; one sentence without its full stop. */
  readonly difference: string;
}

/** Of the time that the span took longer, what one link has to account for. */
const explains = 0.3;

/** A bad trace against a usual one: which link of the critical path grew most. Undefined where it took no longer than usual. */
export async function* tracePaths(scene: Scene, bad: Exemplar): Step<TracePaths | undefined> {
  const like = yield* usualExemplar(scene, bad);
  if (like === undefined || bad.durationNano <= like.trace.durationNano) return undefined;
  const now = yield* pathOf(scene, bad);
  const before = yield* pathOf(scene, like.trace);
  const [grown] = now.links
    .map((link) => ({ link, before: before.links.find((other) => isSame(link, other))?.self ?? 0 }))
    .toSorted((a, b) => b.link.self - b.before - (a.link.self - a.before));
  const added = (bad.durationNano - like.trace.durationNano) / 1e6;
  // What did not wait for the span, as for a message that is read later, says nothing of it.
  if (grown === undefined || grown.link.self - grown.before < added * explains) return undefined;
  return {
    evidenceIds: [now.evidenceId, like.evidenceId, before.evidenceId],
    difference: `On the critical path of trace ${code(bad.traceId, 40)}, ${describe(grown.link)}; of the usual trace ${code(like.trace.traceId, 40)}, ${shown(grown.before)}`,
  };
}

/** The trace of the same operation that took as long as it usually takes. */
async function* usualExemplar(
  { notebook, write, windows }: Scene,
  { service, operation }: Exemplar,
): Step<(Finding & { readonly trace: Exemplar }) | undefined> {
  const ranges = usual(windows);
  if (ranges.length === 0) return undefined;
  const those = `${usualWindow(write, 'time', windows)} AND service_name = ${write.literal(service)} AND name = ${write.literal(operation)}`;
  const sql = `WITH m AS (
  SELECT ${write.quantile('duration_nano', 0.5)} AS middle
  FROM otel.spans
  WHERE ${those}
)
SELECT trace_id, span_id, time, service_name, name, status_code, status_message AS message, duration_nano
FROM otel.spans CROSS JOIN m
WHERE ${those} AND status_code <> 'ERROR'
ORDER BY abs(duration_nano - m.middle), trace_id, span_id
LIMIT 1`;
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: `Which trace of ${code(operation, 80)} in ${code(service, 60)} is a usual one?`,
    sql,
    window: {
      start: new Date(Math.min(...ranges.map(({ start }) => start.getTime()))),
      end: new Date(Math.max(...ranges.map(({ end }) => end.getTime()))),
    },
    judge([row]) {
      if (row === undefined) return 'There is none from before.';
      const { traceId, durationNano } = readExemplar(row);
      return `${code(traceId, 40)}, which took ${milliseconds(durationNano)}.`;
    },
  });
  const [row] = answer;
  return row && { trace: readExemplar(row), ...finding };
}

async function* pathOf(
  { notebook, write }: Scene,
  { traceId, time }: Exemplar,
): Step<Finding & { readonly links: readonly Link[] }> {
  const window = around(time ?? new Date(0));
  const sql = `SELECT time, service_name, name, kind, duration_nano, span_id, parent_span_id
FROM otel.spans
WHERE ${within(write, 'time', window).slice(1, -1)} AND trace_id = ${write.literal(traceId)}
ORDER BY duration_nano DESC, time, span_id
LIMIT 50`;
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: `What determines when trace ${code(traceId, 40)} ends?`,
    sql,
    window,
    judge(rows) {
      const links = read(rows);
      if (links.length === 0) return 'Nothing of it can be followed.';
      const longest = new Set(links.toSorted((a, b) => b.self - a.self).slice(0, 6));
      const chain = links.filter((link) => longest.has(link)).map(describe);
      const left = links.length - chain.length;
      return `By its ${rows.length} longest spans, its critical path: ${chain.join('; then ')}${left > 0 ? `; and ${left} shorter links` : ''}.`;
    },
  });
  return { links: read(answer), ...finding };
}

/** The path, with the parts of one operation taken together. */
function read(rows: readonly Row[]): readonly Link[] {
  const links = criticalPath(
    rows.map((row) => ({
      id: row.text('span_id'),
      parentId: row.text('parent_span_id'),
      service: row.text('service_name'),
      operation: row.text('name'),
      consumer: row.text('kind') === 'CONSUMER',
      start: row.time('time')?.getTime() ?? 0,
      duration: row.number('duration_nano') / 1e6,
    })),
  );
  return links
    .filter((link, index) => links.findIndex((other) => isSame(link, other)) === index)
    .map(({ service, operation }) => ({
      service,
      operation,
      self: links.filter((other) => isSame({ service, operation }, other)).reduce((sum, { self }) => sum + self, 0),
    }));
}

function isSame(a: Omit<Link, 'self'>, b: Omit<Link, 'self'>): boolean {
  return a.service === b.service && a.operation === b.operation;
}

function describe({ service, operation, self }: Link): string {
  return `${code(service, 60)} ${code(operation, 80)} takes ${shown(self)} of its own`;
}

function shown(duration: number): string {
  return milliseconds(duration * 1e6);
}
