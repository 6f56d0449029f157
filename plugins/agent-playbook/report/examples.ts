import type { Conclusion } from '../../../src/contract/storage/index.ts';
import type { Scene, Step } from '../scene.ts';
import {
  describe as describeTrace,
  describeSpan,
  mostSpans,
  readExemplar,
  spansOf,
  type Exemplars,
} from '../steps/exemplars.ts';
import { describe as describeLog, type LogPatterns } from '../steps/log-patterns.ts';
import { names as isNamed, partOf } from '../question/question.ts';
import type { TimeRange } from '../question/time-range.ts';
import { figures, mostTallied, tally, type Tallied } from '../steps/tally.ts';
import {
  between,
  cited,
  code,
  firstAttribute,
  firstOf,
  inList,
  milliseconds,
  moment,
  names,
  ownWork,
  within,
} from '../sql.ts';
import { bullets } from './answer.ts';
import { sinceThen, type Look } from './recall.ts';
import { claim, neverChecked, nothingFound, type Report } from './findings.ts';

/** The worst traces, as asked for; no verdict. */
export function reportTraces(scene: Scene, found: Exemplars, notes: readonly string[]): Report {
  const { traces, evidenceId, failed } = found;
  const none = failed ? 'The traces could not be read' : 'There is no trace to show';
  return examples(scene, notes, {
    category: 'traces',
    claims: traces.map((trace) => claim(describeTrace(trace), [evidenceId])),
    headline:
      traces.length === 0 ? none : `The ${traces.length === 1 ? 'worst trace' : `${traces.length} worst traces`}`,
    nextSteps: traces.length === 0 ? [] : ['Ask query_otel for all spans of a trace by its trace_id.'],
  });
}

/** Warnings and errors that stand out in the logs, as asked for; no verdict. */
export function reportLogs(scene: Scene, found: LogPatterns, notes: readonly string[]): Report {
  const { worse, evidenceId, failed } = found;
  const shown = worse.slice(0, 8);
  const { services, only } = scene.focus;
  const whose = only && services.length > 0 ? ` of ${names(services)}` : '';
  const none = failed
    ? `The logs${whose} could not be read`
    : `No warning or error in the logs${whose} is new or more frequent`;
  return examples(scene, notes, {
    category: 'logs',
    claims: shown.map((line) => claim(`${describeLog(line)}, such as ${code(line.example, 240)}`, [evidenceId])),
    headline: shown.length === 0 ? none : `The ${shown.length} warnings and errors that stand out in the logs${whose}`,
    nextSteps: [],
  });
}

const mostShown = 12;
const day = 86_400_000;

/** A trace that is named by its id: what failed in it, else what took longest, in the order of time. */
export async function* oneTrace({ desk, windows, today }: Look, traceId: string): Step<string> {
  const range = { start: new Date(windows.now.start.getTime() - day), end: today };
  const { rows, evidenceId } = yield* spansOf(desk, traceId, range);
  const [first] = rows;
  if (first === undefined) {
    return `There is no span of trace ${code(traceId, 40)} ${between(range)}.${cited(evidenceId)} Name the time of an older one: \`what about yesterday\` moves it.`;
  }
  const failed = rows.filter((row) => row.text('status_code') === 'ERROR');
  const longest = rows.toSorted((a, b) => b.number('duration_nano') - a.number('duration_nano'));
  const worst = new Set([...failed, ...longest].slice(0, mostShown));
  const services = new Set(rows.map((row) => row.text('service_name'))).size;
  const count = rows.length < mostSpans ? `${rows.length} spans` : `The first ${rows.length} spans`;
  const began = first.time('time');
  return [
    `Trace ${code(traceId, 40)}: ${count} of ${services === 1 ? 'one service' : `${services} services`}, ${failed.length === 0 ? 'none' : failed.length} failed${began === undefined ? '' : `, from ${moment(began)} on`}.${cited(evidenceId)}`,
    bullets(rows.filter((row) => worst.has(row)).map((row) => describeSpan(readExemplar(row)))),
    ...(rows.length > worst.size
      ? ['These failed or took longest. Ask query_otel for all spans by its trace_id.']
      : []),
  ].join('\n\n');
}

/** Who calls a service, or what it calls: other services, and what sends nothing itself. Undefined where it is none that is known. */
export async function* neighbours(look: Look, side: 'callers' | 'callees', what: string): Step<string | undefined> {
  const { desk, windows, known, found } = look;
  const meant = /^(?:it|this|that)$/.test(what) ? found?.conclusion.service : what;
  const service = known.find((name) => name.toLowerCase() === meant?.toLowerCase()) ?? partOf(what, known);
  if (service === undefined) return undefined;
  const { write } = desk;
  const range = windows.now;
  const [own, other] = side === 'callers' ? ['s', 'p'] : ['p', 's'];
  const calls = yield* tally(desk, {
    question: side === 'callers' ? `Who calls ${code(service, 60)}?` : `What does ${code(service, 60)} call?`,
    range,
    by: [`${other}.service_name`],
    join: 'otel.spans p',
    where: [
      within(write, 'p.time', range).slice(1, -1),
      'p.trace_id = s.trace_id AND p.span_id = s.parent_span_id AND p.service_name <> s.service_name',
      `${own}.service_name = ${write.literal(service)}`,
    ],
  });
  const address = firstOf(write, 's.attributes', [
    'server.address',
    'peer.service',
    'db.system.name',
    'db.system',
    'messaging.system',
  ]);
  const outside =
    side === 'callees' &&
    (yield* tally(desk, {
      question: `What does ${code(service, 60)} call that sends nothing itself?`,
      range,
      by: [address],
      where: [
        inList(write, 's.kind', ['CLIENT', 'PRODUCER']),
        `s.service_name = ${write.literal(service)}`,
        `${address} <> ''`,
      ],
    }));
  // An address such as `payment.shop.svc` is one of a service that was counted where the call arrives.
  const isKnown = ({ names: [at = ''] }: Tallied): boolean => known.includes(at.split(/[.:]/)[0] ?? at);
  const rows = [...calls.rows, ...(outside ? outside.rows.filter((row) => !isKnown(row)) : [])].slice(0, mostShown);
  const ids = cited(calls.evidenceId, ...(outside ? [outside.evidenceId] : []));
  const name = code(service, 60);
  const list = rows
    .map((row) => `${code(row.names[0] ?? '', 80)} (${row.calls} calls, ${row.failed} failed)`)
    .join(', ');
  if (rows.length === 0) {
    const none = side === 'callers' ? `No call of another service to ${name}` : `No call of ${name} to anything`;
    return `${none} is in the traces ${between(range)}.${ids}${sinceThen(look)}`;
  }
  return `${name} ${side === 'callers' ? 'is called by' : 'calls'} ${list}, ${between(range)}.${ids}${sinceThen(look)}`;
}

const statementWidth = 200;

/** What services ask of databases, by what took longest or failed most. */
export async function* statements(look: Look): Step<string> {
  const { desk, windows, known, text } = look;
  const { write } = desk;
  const said = firstAttribute(write, 's.attributes', ['db.query.text', 'db.statement']);
  const system = firstAttribute(write, 's.attributes', ['db.system.name', 'db.system']);
  const service = known.find((name) => isNamed(text, name));
  const isFailure = /\bfail/i.test(text);
  const counts = (range: TimeRange) =>
    tally(desk, {
      question: isFailure ? 'Which database statements fail?' : 'Which database statements are the slowest?',
      range,
      by: ['s.service_name', `COALESCE(NULLIF(substr(${said}, 1, ${statementWidth}), ''), s.name)`],
      where: [
        "s.kind IN ('CLIENT', 'INTERNAL')",
        `(${said} <> '' OR ${system} <> '')`,
        ...(service === undefined ? [] : [`s.service_name = ${write.literal(service)}`]),
      ],
      order: isFailure ? 'failures' : 'slowness',
    });
  const now = yield* counts(windows.now);
  const whose = service === undefined ? '' : ` of ${code(service, 60)}`;
  if (now.rows.length === 0) {
    return `No span${whose} ${between(windows.now)} is a call of a database that says so in \`db.system.name\` or \`db.query.text\`.${cited(now.evidenceId)}`;
  }
  const before = windows.before && (yield* counts(windows.before));
  const often = now.rows.filter(({ calls }) => calls >= 5);
  const shown = (often.length > 0 ? often : now.rows).filter(({ failed }) => !isFailure || failed > 0).slice(0, 5);
  if (shown.length === 0)
    return `No database statement${whose} failed ${between(windows.now)}.${cited(now.evidenceId)}`;
  // Of more than a query answers with, one that is missing may have been there.
  const unseen =
    before !== undefined && before.rows.length > 0 && before.rows.length < mostTallied ? '; not seen before' : '';
  const lines = shown.map((row) => {
    const [name = '', statement = ''] = row.names;
    const past = before?.rows.find(({ names: own }) => own[0] === name && own[1] === statement);
    const usual = past === undefined ? unseen : `; before: ${figures(past)}`;
    return `${code(name, 60)} ${code(statement, statementWidth)}: ${figures(row)}${usual}`;
  });
  const ids = cited(now.evidenceId, ...(before ? [before.evidenceId] : []));
  const how = isFailure ? 'that fail most' : 'that take longest';
  return `The database statements${whose} ${how} ${between(windows.now)}, ${isFailure ? 'by number of failures' : 'by p95'}:${ids}${sinceThen(look)}\n${bullets(lines)}`;
}

/** When a job ran last, which may be long ago. */
export async function* lastRun({ desk, known, today, found }: Look, asked: string): Step<string> {
  const { write } = desk;
  const what = asked.replace(/\s*\b(?:jobs?|runs?|execution|task|service)\s*$/, '').trim();
  const meant = /^(?:it|this|that|)$/.test(what) ? (found?.conclusion.service ?? '') : what;
  // Other letters match anything in the pattern below.
  if (!/[a-z0-9]/i.test(meant)) return 'Name the job: `when did the nightly-export last run?`';
  const words = `(?i)${meant.replaceAll(/[^a-z0-9]+/gi, '.*')}`;
  const service = known.find((name) => name.toLowerCase() === meant.toLowerCase()) ?? partOf(meant, known);
  const which = service
    ? `s.service_name = ${write.literal(service)}`
    : `(${write.matches('s.service_name', words)} OR ${write.matches('s.name', words)})`;
  const counts = (range: TimeRange, where: readonly string[]) =>
    tally(desk, {
      question: `When did ${code(meant, 60)} last run?`,
      range,
      by: ['s.service_name', 's.name'],
      where: [ownWork('s.kind'), ...where],
    });
  let none = '';
  for (const days of [1, 30]) {
    const range = { start: new Date(today.getTime() - days * day), end: today };
    // A job begins a trace; what only serves requests has none that do.
    const begun = yield* counts(range, [which, "s.parent_span_id = ''"]);
    const all = begun.rows.length > 0 ? begun : yield* counts(range, [which]);
    none = `No span ${between(range)} is called like ${code(meant, 60)}.${cited(all.evidenceId)}`;
    const [latest] = all.rows.toSorted((a, b) => (b.last?.getTime() ?? 0) - (a.last?.getTime() ?? 0));
    if (latest?.last === undefined) continue;
    const [sender = '', name = ''] = latest.names;
    const { rows, evidenceId } = yield* counts({ start: latest.last, end: today }, [
      `s.service_name = ${write.literal(sender)}`,
      `s.name = ${write.literal(name)}`,
    ]);
    const [run] = rows;
    const how = run && `, took ${milliseconds(run.median)} and ${run.failed > 0 ? 'failed' : 'did not fail'}`;
    const others = `Of ${latest.calls} ${latest.calls === 1 ? 'run' : 'runs'} ${between(range)} ${latest.failed === 0 ? 'none' : latest.failed} failed.`;
    return `${code(sender, 60)} ${code(name, 80)} last began at ${moment(latest.last)}${how ?? ''}.${cited(evidenceId)} ${others}${cited(all.evidenceId)}`;
  }
  return none;
}

function examples(
  { focus, notebook, windows }: Scene,
  notes: readonly string[],
  shown: Pick<Conclusion, 'category' | 'claims'> & Pick<Report, 'headline' | 'nextSteps'>,
): Report {
  const { category, claims, headline, nextSteps } = shown;
  return {
    ...nothingFound,
    conclusion: {
      root_cause: '',
      category,
      service: focus.services[0] ?? '',
      confidence: 'none',
      claims,
      not_checked: [...notebook.unanswered, ...neverChecked],
    },
    headline,
    windows,
    nextSteps,
    notes,
  };
}
