import type { Asks } from '../question/asks.ts';
import { names as isNamed, partOf } from '../question/question.ts';
import type { TimeRange } from '../question/time-range.ts';
import { isOver } from '../question/windows.ts';
import type { Step } from '../scene.ts';
import { between, cited, code, inList, milliseconds, moment, names } from '../sql.ts';
import { rate } from '../statistics.ts';
import { changesAround, placed } from '../steps/changes.ts';
import { tally } from '../steps/tally.ts';
import { describeVersion, newVersions, type Versions } from '../steps/versions.ts';
import { bullets } from './answer.ts';
import { blame, isKind } from './blame.ts';
import { affected, affectedOnly, count, failing, health, slowest } from './counts.ts';
import { lastRun, neighbours, oneTrace, statements } from './examples.ts';
import {
  badSpans,
  beginningOf,
  feltBy,
  howBad,
  gist,
  isQuiet,
  nothing,
  outside,
  sinceThen,
  stepOn,
  unknown,
  worseOf,
  type Found,
  type Look,
} from './recall.ts';

/** Of these an answer is made from what an investigation found. */
const restsOnFindings: ReadonlySet<Asks['kind']> = new Set([
  'onset',
  'version',
  'advice',
  'summary',
  'state',
  'affected',
  'blame',
  'reasons',
  'certainty',
  'queries',
  'unchecked',
]);

/** To these there is no answer of their own where nothing could be read. */
const resting: ReadonlySet<Asks['kind']> = new Set(['onset', 'advice', 'summary', 'state', 'affected']);

export function needsFindings({ kind }: Asks): boolean {
  return restsOnFindings.has(kind);
}

/** The direct answer; undefined where the question is none of these. */
export async function* reply(asks: Asks, look: Look): Step<string | undefined> {
  switch (asks.kind) {
    case 'slowest':
      return yield* slowest(look);
    case 'failing':
      return yield* failing(look);
    case 'count':
      return yield* count(look, asks.what);
    case 'health':
      return (yield* health(look, asks.what)) ?? (look.found && (yield* ofOther(look, look.found, asks.what)));
    case 'callers':
    case 'callees':
      return yield* around(look, asks.kind, asks.what);
    case 'trace':
      return yield* oneTrace(look, asks.what);
    case 'statements':
      return yield* statements(look);
    case 'lastRun':
      return yield* lastRun(look, asks.what);
    case 'changes':
      return yield* changes(look);
    case 'order':
      return yield* order(look);
    default:
  }
  const { found } = look;
  if (found === undefined) return undefined;
  if (resting.has(asks.kind)) {
    const none = unknown(found);
    if (none !== undefined) return none;
  }
  switch (asks.kind) {
    case 'onset':
      return yield* onset(look, found);
    case 'version':
      return yield* version(look, found);
    case 'advice':
      return yield* advice(look, found);
    case 'summary':
      return yield* summary(look, found);
    case 'state':
      return yield* state(look, found);
    case 'affected':
      return yield* affected(look, found, asks.what);
    case 'blame':
      return yield* blame(look, found, asks.what);
    default:
      return undefined;
  }
}

/** Of what is no service by its whole name. */
async function* ofOther(look: Look, found: Found, what: string): Step<string | undefined> {
  const service = isKind(what) ? undefined : partOf(what, look.known);
  if (service !== undefined) return yield* health(look, service);
  const isAffected = /\b(?:affected|impacted|hit)\b/i.test(look.text);
  if (isAffected) return yield* affectedOnly(look, found, what);
  if (/\b(?:down|slow|failing|broken)\b/i.test(look.text)) return yield* blame(look, found, what);
  return yield* blame(look, found, what, /^(?:is|are)\b/i.test(look.text.trim()) ? 'health' : 'state');
}

/** Some call those upstream that call a service, and some those that it calls: who says so is told both. */
async function* around(look: Look, side: 'callers' | 'callees', what: string): Step<string | undefined> {
  const told = yield* neighbours(look, side, what);
  if (told === undefined || !/stream of\b/i.test(look.text)) return told;
  return [told, yield* neighbours(look, 'callees', what)].join('\n\n');
}

async function* onset(look: Look, found: Found): Step<string> {
  const none = nothing(found);
  const began = beginningOf(found);
  if (none !== undefined) {
    if (isQuiet(found)) return `${none} So there is nothing that started.`;
    return began === undefined ? `When that began was not found. ${none}` : `${began}. ${none}`;
  }
  const { service } = found.conclusion;
  const { added, evidenceId } = yield* newVersions({ ...look.desk, windows: look.windows });
  const released = added.filter((one) => one.service === service);
  const said =
    began === undefined
      ? `When it began was not found: nothing rises at any one point ${between(look.windows.now)}.`
      : `${began}.`;
  return [
    `${said} ${gist(found)}`,
    ...released.map((one) => `Close to that: ${describeVersion(one)}.${cited(evidenceId)}`),
  ].join('\n\n');
}

/** `is 2.4.0 everywhere?`, or `live?`: how many spans come from it, and how many from another version. */
async function* everywhere({ desk, last, today, text }: Look, running: Versions['running']): Step<string> {
  const [{ version: asked } = { version: '' }] = running;
  const services = running.map(({ service }) => service);
  const end = new Date(last.getTime() + 1);
  const range = { start: new Date(end.getTime() - lately), end };
  const { rows, evidenceId } = yield* tally(desk, {
    question: `Which versions run beside ${code(asked, 60)}?`,
    range,
    by: ['s.service_name', 's.service_version'],
    where: [inList(desk.write, 's.service_name', services)],
  });
  const told = services.map((service) => {
    const own = rows.filter(({ names: [name] }) => name === service);
    const list = own.map(({ names: [, version = ''], calls }) => {
      return `${calls} from ${version === '' ? 'no version' : code(version, 60)}`;
    });
    return `${code(service, 60)} ${list.length === 0 ? 'sent none' : list.join(', ')}`;
  });
  const isSeen = rows.some(({ names: [, version] }) => version === asked);
  const isAll = isSeen && rows.every(({ names: [, version] }) => version === asked);
  const isPart = isSeen && /\b(?:live|deployed)\b/i.test(text);
  const answer = isAll ? 'Yes' : isPart ? 'Yes, but not everywhere' : 'No';
  const ended = isOver(last, today) ? ` The telemetry ends at ${moment(last)}.` : '';
  return `${answer}. Spans ${between(range)}: ${told.join('; ')}.${cited(evidenceId)}${ended}`;
}

async function* version(look: Look, found: Found): Step<string> {
  const { service } = found.conclusion;
  const { added, running: all, evidenceId } = yield* newVersions({ ...look.desk, windows: look.windows });
  const number = /^(?:is|are) .*?\bv?(\d+(?:\.\d+)+[\w.+-]*)/i.exec(look.text.trim())?.[1];
  const having = all.filter((one) => number !== undefined && one.version.replace(/^v/, '') === number);
  if (having.length > 0) return yield* everywhere(look, having);
  const asked = look.known.find((name) => isNamed(look.text, name));
  if (asked !== undefined) {
    const running = all.filter((one) => one.service === asked);
    if (running.length === 0) return `The spans of ${code(asked, 60)} name no version.`;
    const own = added.filter((one) => one.service === asked);
    const list = names(running.map((one) => one.version));
    return own.length === 0
      ? `${code(asked, 60)} runs ${list}, and no new version of it was seen ${between(look.windows.now)}.${cited(evidenceId)}`
      : `${own.map(describeVersion).join('; ')}.${cited(evidenceId)}`;
  }
  const own = added.filter((one) => one.service === service);
  const others = added.filter((one) => one.service !== service);
  const also = others.length === 0 ? '' : `Also new: ${others.map(describeVersion).join('; ')}.${cited(evidenceId)}`;
  if (service !== '' && own.length > 0) {
    const began = beginningOf(found);
    return [
      `${own.map(describeVersion).join('; ')}.${cited(evidenceId)}${began === undefined ? '' : ` ${began}.`}`,
      'That the times agree speaks for this release; it does not prove it.',
      also,
    ]
      .filter(Boolean)
      .join('\n\n');
  }
  const whose = service === '' ? 'any service' : code(service, 60);
  return [`No new version of ${whose} was seen ${between(look.windows.now)}.${cited(evidenceId)}`, also]
    .filter(Boolean)
    .join(' ');
}

/** What investigations ask that tells of a change. */
const changed: readonly RegExp[] = [
  /fail more than before/,
  /are slower than before/,
  /resource than before/,
  /warnings and errors in the logs/,
];

async function* changes(look: Look): Step<string> {
  const { added, evidenceId } = yield* newVersions({ ...look.desk, windows: look.windows });
  const asked = look.known.find((name) => isNamed(look.text, name));
  const own = asked === undefined ? added : added.filter(({ service }) => service === asked);
  const others = added.filter((one) => !own.includes(one));
  const none = asked === undefined ? 'No service has a new version' : `No new version of ${code(asked, 60)} was seen`;
  const listed = (lead: string, list: typeof added) =>
    `${lead}: ${list.map(describeVersion).join('; ')}.${cited(evidenceId)}`;
  const releases = [
    own.length === 0 ? `${none} ${between(look.windows.now)}.${cited(evidenceId)}` : listed('New versions', own),
    ...(others.length === 0 ? [] : [listed('Also new', others)]),
  ].join(' ');
  const told = yield* changesAround({ ...look.desk, windows: look.windows, environment: undefined }, {});
  const events = told.during.slice(0, 5).map((change) => `${placed(change, undefined, '')}.${cited(told.evidenceId)}`);
  const { found } = look;
  const steps = changed.flatMap((question) => {
    const step = found && stepOn(found, question);
    return step?.verdict === 'supports'
      ? [`${step.observation.split('; ').slice(0, 2).join('; ').replace(/\.$/, '')}.${cited(step.evidence_id)}`]
      : [];
  });
  return [
    `${releases}${sinceThen(look)}`,
    ...(events.length === 0 ? [] : [`Deployed or turned:\n${bullets(events)}`]),
    ...(steps.length === 0 ? [] : [`Changed against before:\n${bullets(steps)}`]),
    'Configuration and feature flags are seen only where they are sent as telemetry.',
  ].join('\n\n');
}

async function* advice(look: Look, found: Found): Step<string> {
  const none = nothing(found);
  if (none !== undefined) {
    return isQuiet(found)
      ? `${none} So there is nothing to be done about it; name a service or a time if you see more.`
      : `${none}\n\nLook into that first: \`show me the logs\` and \`what changed?\` say more. Nothing else was found.`;
  }
  const { service, confidence } = found.conclusion;
  const { added, evidenceId } = yield* newVersions({ ...look.desk, windows: look.windows });
  const own = added.filter((one) => one.service === service && one.previous !== '');
  const dependency = outside(found);
  const whose = code(service, 60);
  const isBack = own.length === 0 && /\broll|\brevert/i.test(look.text);
  const steps = [
    ...(isBack ? [notNew(look, service, evidenceId)] : []),
    ...own.map(
      (one) =>
        `Roll back ${whose} from ${code(one.version, 60)} to ${code(one.previous, 60)}: it is new since ${moment(one.first)}.${cited(evidenceId)} Rolling back is the fastest test of whether the release is to blame.`,
    ),
    ...(dependency === undefined
      ? []
      : [
          `Check ${dependency}: ${whose} fails at it or waits for it. Is it up, what changed there, what does it wait for?`,
        ]),
    ...(own.length > 0 || dependency !== undefined
      ? []
      : [`Read the failing and slow traces of ${whose} (\`show me the traces\`), and its logs.`]),
    'Ask `is it fixed?` afterwards: it counts again.',
  ];
  const sure = confidence === 'high' ? '' : ` That is of ${confidence} confidence, so look before you act.`;
  return `${bullets(steps)}\n\nBecause: ${gist(found)}${sure}`;
}

function notNew({ windows }: Look, service: string, evidenceId: string): string {
  return `No new version of ${code(service, 60)} was seen ${between(windows.now)}, so rolling it back is unlikely to help.${cited(evidenceId)}`;
}

async function* order(look: Look): Step<string> {
  const reads = 'That I cannot do: I only read telemetry, and change, restart, delete and send nothing.';
  const isBack = /\broll|\brevert|\bundo|\bdeploy/i.test(look.text);
  const service = look.known.find((name) => isNamed(look.text, name)) ?? look.found?.conclusion.service ?? '';
  if (!isBack || service === '') {
    const known =
      look.found === undefined || nothing(look.found) !== undefined ? '' : `\n\nWhat was found: ${gist(look.found)}`;
    return `${reads}${known}`;
  }
  const { added, evidenceId } = yield* newVersions({ ...look.desk, windows: look.windows });
  const own = added.filter((one) => one.service === service);
  return own.length === 0
    ? `${reads}\n\n${notNew(look, service, evidenceId)}`
    : `${reads}\n\nWhat you would go back from: ${own.map(describeVersion).join('; ')}.${cited(evidenceId)}`;
}

async function* summary(look: Look, found: Found): Step<string> {
  const none = nothing(found);
  if (none !== undefined) return none;
  const { service, confidence, claims } = found.conclusion;
  if (/\b(?:sentence|line|one-liner)\b/i.test(look.text)) return `${gist(found)} (${confidence} confidence)`;
  const { failing, slow, evidenceIds } = worseOf(found);
  const { added, evidenceId } = yield* newVersions({ ...look.desk, windows: look.windows });
  const hit = feltBy({ failing: failing.slice(0, 2), slow: slow.slice(0, 2) });
  const shared = claims.find(({ text }) => /% of the (?:failing|slow)/.test(text));
  const own = added.filter((one) => one.service === service);
  const began = beginningOf(found);
  return bullets([
    `What: ${gist(found)} (${confidence} confidence)`,
    ...(began === undefined ? [] : [`${began}.`]),
    ...(hit.length === 0 ? [] : [`Who feels it: ${hit.join('; ')}.${cited(...evidenceIds)}`]),
    ...(shared === undefined ? [] : [`They share: ${shared.text}${cited(...shared.evidence_ids)}`]),
    ...own.map((one) => `New: ${describeVersion(one)}.${cited(evidenceId)}`),
  ]);
}

const lately = 10 * 60_000;

async function* state(look: Look, found: Found): Step<string> {
  const { desk, last, today, text } = look;
  const worse = worseOf(found);
  const words = text.match(/[\w./-]*\w/g)?.filter((word) => !isKind(word)) ?? [];
  const part = words.map((word) => partOf(word, look.known)).find((name) => name !== undefined);
  const other = look.known.find((name) => isNamed(text, name)) ?? part;
  const isFelt = [...worse.failing, ...worse.slow].some(({ service }) => service === other);
  if (other !== undefined && !isFelt && other !== found.conclusion.service) {
    const told = yield* health(look, other);
    if (told !== undefined) return told;
  }
  const none = nothing(found);
  if (none !== undefined) {
    return isQuiet(found)
      ? `${none} So there is nothing to be fixed.`
      : `${none}\n\nWhether that goes on is not counted here: ask \`is anything wrong right now?\` for a new look.`;
  }
  const bad = badSpans(desk, worse);
  if (bad === undefined) {
    return `I cannot tell by counting: what was found is no failure and no slowness of an operation. ${gist(found)} Ask \`is anything wrong right now?\` for a new look.`;
  }
  const end = new Date(last.getTime() + 1);
  const range = { start: new Date(end.getTime() - lately), end };
  const counts = (stretch: TimeRange) =>
    tally(desk, {
      question: 'Is it still going on?',
      range: stretch,
      by: ['s.service_name', 's.name'],
      where: [bad.which],
      failed: bad.bad,
      order: 'failures',
    });
  const { rows, evidenceId } = yield* counts(range);
  const [row] = rows;
  const ended = `The telemetry ends at ${moment(last)}, so whether it is fixed now is not known.`;
  if (row === undefined) return `I cannot tell: none of these requests came ${between(range)}.${cited(evidenceId)}`;
  const [service = '', name = ''] = row.names;
  const how = `${howBad(worse)} (${milliseconds(row.median)} at the median)`;
  const counted = `${row.failed} of ${row.calls} ${code(service, 60)} ${code(name, 80)} ${how} ${between(range)}.${cited(evidenceId)}`;
  const usual = worse.slow.length > 0 ? 0.05 : rate(worse.failing[0]?.before ?? { hits: 0, total: 0 });
  const goesOn = row.failed / row.calls > Math.max(2 * usual, 0.02);
  if (isOver(last, today)) {
    return goesOn ? `${ended} It was still going on then: ${counted}` : `${ended} By then it was over: ${counted}`;
  }
  const isAffirmed =
    /^(?!.*\b(?:fixed|ok(?:ay)?|fine|healthy|working|up)\b).*\b(?:still|ongoing|going on|happening)\b/is.test(text);
  if (!goesOn) return `${isAffirmed ? 'No, it' : 'It'} looks fixed: ${counted}`;
  const isTrend = /\bgetting\b|\bget (?:any )?(?:better|worse)\b/i.test(text);
  const isOpen = isTrend || /\bwhen\b/i.test(text);
  const went = `${isOpen ? 'It' : isAffirmed ? 'Yes, it' : 'No, it'} is still going on: ${counted}`;
  if (!isTrend) return went;
  const earlier = { start: new Date(range.start.getTime() - lately), end: range.start };
  const past = yield* counts(earlier);
  const same = past.rows.find((one) => one.names.join(' ') === row.names.join(' '));
  return same === undefined
    ? went
    : `${went} From ${moment(earlier.start)} to ${moment(earlier.end)} it was ${same.failed} of ${same.calls} (${milliseconds(same.median)} at the median).${cited(past.evidenceId)}`;
}
