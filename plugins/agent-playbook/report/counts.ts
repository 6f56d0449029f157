import { lengthOf } from '../notebook.ts';
import { names as isNamed } from '../question/question.ts';
import { readTimeRange, type TimeRange } from '../question/time-range.ts';
import type { Step } from '../scene.ts';
import {
  between,
  cited,
  code,
  firstAttribute,
  httpStatus,
  milliseconds,
  moment,
  names,
  ownWork,
  percent,
} from '../sql.ts';
import { fares, figures, tally, type Tallied } from '../steps/tally.ts';
import { bullets } from './answer.ts';
import {
  badSpans,
  feltBy,
  gist,
  howBad,
  isQuiet,
  nothing,
  sinceThen,
  worseOf,
  type Found,
  type Look,
} from './recall.ts';

/** Keys of attributes that say whose request it was, without what groups people. */
const people = String.raw`(?i)(^|[._])(enduser|user|customer|tenant|account|member|org|organi[sz]ation|client)([._]?id)?$`;

const person = /^(?:users?|customers?|clients?|tenants?|accounts?|people|visitors?|persons?)$/;

/** Which orders are affected is whose they are. */
const isAnybody = (word: string): boolean => person.test(word) || /^(?:orders?|checkouts?)$/.test(word);

export async function* affected(look: Look, found: Found, what: string): Step<string> {
  const { desk } = look;
  const isGroup = what !== '' && !isAnybody(what);
  // `how many bookings failed?` is of operations that are called so, else of an attribute's values.
  const counted =
    what !== '' && !person.test(what) && /^\W*how many\b(?!.*\b(?:affected|impacted|hit)\b)/i.test(look.text);
  const called = counted ? yield* countCalled(look, what) : undefined;
  if (called?.answer !== undefined) return called.answer;
  const worse = worseOf(found);
  const bad = badSpans(desk, worse);
  const range = worse.range ?? look.windows.now;
  const later = worse.compared && worse.compared.start > range.start ? worse.compared : undefined;
  if (bad === undefined) {
    const none = nothing(found) ?? 'No operation fails more or is slower than before.';
    return `${none} ${isQuiet(found) ? 'So nobody was found to be affected.' : 'No request was seen to suffer from it.'}`;
  }
  if (/\b(?:not|un-?)\s*(?:affected|impacted|hit)\b/i.test(look.text)) {
    const well = look.known.filter(
      (name) => ![...worse.failing, ...worse.slow].some(({ service }) => service === name),
    );
    return well.length === 0
      ? `Every service has an operation that fails more or is slower than before.${cited(...worse.evidenceIds)}`
      : `No operation of ${names(well)} fails more or is slower than before.${cited(...worse.evidenceIds)}`;
  }
  const felt = feltBy({ failing: worse.failing.slice(0, 3), slow: worse.slow.slice(0, 4) });
  if (/^(?:services?|operations?|endpoints?|pages?|routes?|requests?|calls?|components?)$/.test(what)) {
    return `${felt[0] ?? ''}.${cited(...worse.evidenceIds)}${felt.length < 2 ? '' : `\n\nAlso:\n${bullets(felt.slice(1))}`}`;
  }
  if (isGroup) return yield* affectedGroups(look, bad, range, what);
  const reached = yield* tally(desk, {
    question: 'How many users, customers or tenants are affected?',
    range,
    by: ['s.service_name', 's.name', 'a.key'],
    where: [bad.which, desk.write.matches('a.key', people)],
    failed: bad.bad,
    join: desk.write.unnestMap('s.attributes', 'a'),
    distinct: 'a.value',
    order: 'failures',
  });
  const [most] = reached.rows.toSorted((a, b) => b.values.failed - a.values.failed);
  const shared = found.conclusion.claims.filter(({ text }) => /% of the (?:failing|slow)/.test(text)).slice(0, 2);
  const met =
    worse.slow.length === 0
      ? 'met a failure'
      : worse.failing.length === 0
        ? 'were slowed down'
        : 'met a failure or were slowed down';
  const first =
    most === undefined
      ? `How many users is not known: these spans carry no id of a user, customer or tenant.${cited(reached.evidenceId)}`
      : `${most.values.failed} of ${most.values.all} users (${code(most.names[2] ?? '', 80)}) ${met} at ${code(most.names[0] ?? '', 60)} ${code(most.names[1] ?? '', 80)} ${between(range)}: ${most.failed} of ${most.calls} requests.${cited(reached.evidenceId)}`;
  return [
    first,
    ...(shared.length === 0
      ? []
      : [
          `What they share: ${shared.map(({ text, evidence_ids: ids }) => `${text.replace(/\.$/, '')}${cited(...ids)}`).join('; ')}.`,
        ]),
    `By operation${later === undefined ? '' : `, ${between(later)}`}:${cited(...worse.evidenceIds)}\n${bullets(felt)}`,
  ].join('\n\n');
}

/** `which countries`: by the values of an attribute that is called so. */
async function* affectedGroups(
  look: Look,
  bad: { readonly which: string; readonly bad: string },
  range: TimeRange,
  what: string,
): Step<string> {
  const { desk } = look;
  const stem = what.replace(/(?:ies|e?s|y)$/, '');
  const { rows, evidenceId } = yield* byAttribute(desk, {
    question: `Which ${code(what, 40)} are affected?`,
    range,
    by: ['s.service_name', 's.name', 'a.key', 'a.value'],
    where: [bad.which, desk.write.matches('a.key', `(?i)${stem.replaceAll(/[^a-z0-9]/g, '.')}`)],
    failed: bad.bad,
    order: 'failures',
  });
  const [first] = rows;
  if (first === undefined) {
    const { answer } = yield* countCalled(look, what);
    const none = `no attribute of these spans is called like ${code(what, 40)}.${cited(evidenceId)}`;
    return `I cannot tell which: ${none}${answer === undefined ? '' : `\n\n${answer}`}`;
  }
  const [service = '', name = '', key = ''] = first.names;
  const same = rows.filter(({ names: own }) => own[0] === service && own[1] === name && own[2] === key).slice(0, 8);
  const list = same.map(
    ({ names: [, , , value = ''], failed, calls }) =>
      `${code(value, 60)} ${failed} of ${calls} (${percent(failed / calls)})`,
  );
  return `By ${code(key, 80)} at ${code(service, 60)} ${code(name, 80)}, ${between(range)}: ${list.join(', ')}.${cited(evidenceId)}`;
}

/** By attributes of the spans, else by those of what sends them: a pod, a host. */
async function* byAttribute(desk: Look['desk'], inquiry: Omit<Parameters<typeof tally>[1], 'join'>) {
  const own = yield* tally(desk, { ...inquiry, join: desk.write.unnestMap('s.attributes', 'a') });
  if (own.rows.length > 0) return own;
  return yield* tally(desk, { ...inquiry, join: desk.write.unnestMap('s.resource_attributes', 'a') });
}

/** `only amex customers`: those requests that have it, and the others. Undefined where no attribute has such a value. */
export async function* withValue({ desk, windows, found }: Look, value: string): Step<string | undefined> {
  const bad = found && badSpans(desk, worseOf(found));
  const range = (found && worseOf(found).range) ?? windows.now;
  const which = bad?.which ?? ownWork('s.kind');
  const counts = (named: boolean) =>
    (named ? byAttribute : tally)(desk, {
      question: named ? `How do requests with ${code(value, 60)} fare?` : 'How do all of these requests fare?',
      range,
      by: named ? ['s.service_name', 's.name', 'a.key'] : ['s.service_name', 's.name'],
      where: [which, ...(named ? [`lower(a.value) = ${desk.write.literal(value.toLowerCase())}`] : [])],
      ...(bad && { failed: bad.bad }),
      order: 'failures',
    });
  const own = yield* counts(true);
  const [most] = own.rows;
  if (most === undefined) return undefined;
  const all = yield* counts(false);
  const [service = '', name = '', key = ''] = most.names;
  const whole = all.rows.find(({ names: [s, n] }) => s === service && n === name);
  const where = `${code(service, 60)} ${code(name, 80)}`;
  const how = found === undefined || bad === undefined ? 'failed' : howBad(worseOf(found));
  const others =
    whole &&
    `Of the others ${whole.failed - most.failed} of ${whole.calls - most.calls} ${how}.${cited(all.evidenceId)}`;
  return `With ${code(`${key}=${value}`, 120)}, ${most.failed} of ${most.calls} requests to ${where} ${how} ${between(range)} (${percent(most.failed / most.calls)}).${cited(own.evidenceId)}${others ? ` ${others}` : ''}`;
}

/** `are free customers affected?`: by the first word that is a value of an attribute, else all of them. */
export async function* affectedOnly(look: Look, found: Found, what: string): Step<string> {
  const words = what.split(/[^\w./-]+/).filter((word) => word.length > 1 && !isAnybody(word));
  for (const word of nothing(found) === undefined ? words : []) {
    const told = yield* withValue(look, word);
    if (told !== undefined) return told;
  }
  const all = yield* affected(look, found, '');
  const [word] = words;
  return word === undefined || words.length > 1 || nothing(found) !== undefined
    ? all
    : `No span of these has the value ${code(word, 60)}, so this is of all of them. ${all}`;
}

const requests = "s.kind IN ('SERVER', 'CONSUMER')";

export async function* slowest(look: Look): Step<string> {
  const { desk, windows } = look;
  const counts = (where: string) =>
    tally(desk, {
      question: 'Which operations are the slowest?',
      range: windows.now,
      by: ['s.service_name', 's.name'],
      where: [where],
      order: 'slowness',
    });
  const served = yield* counts(requests);
  const { rows, evidenceId } = served.rows.length > 0 ? served : yield* counts(ownWork('s.kind'));
  const often = rows.filter(({ calls }) => calls >= 5);
  const shown = (often.length > 0 ? often : rows).slice(0, 5);
  const [first] = shown;
  if (first === undefined) return `There are no requests ${between(windows.now)}.${cited(evidenceId)}`;
  const slow = look.found === undefined ? [] : worseOf(look.found).slow;
  const isNew = slow.some(({ service, operation }) => service === first.names[0] && operation === first.names[1]);
  const before = look.found === undefined ? '' : isNew ? ' It is slower than before.' : ' It is no slower than before.';
  const [service = '', name = ''] = first.names;
  return `The slowest is ${code(service, 60)}, at ${code(name, 80)}: ${milliseconds(first.p95)} at p95, ${milliseconds(first.median)} at the median ${between(windows.now)}.${cited(evidenceId)}${before}${sinceThen(look)}\n\nBy p95:\n${bullets(shown.map(line))}`;
}

function line({ names: [service = '', name = ''], ...counted }: Tallied): string {
  return `${code(service, 60)} ${code(name, 80)}: ${figures(counted)}`;
}

export async function* failing(look: Look): Step<string> {
  const { desk, windows } = look;
  const { rows, evidenceId } = yield* tally(desk, {
    question: 'Which operations fail most?',
    range: windows.now,
    by: ['s.service_name', 's.name'],
    order: 'failures',
  });
  const shown = rows.filter(({ failed }) => failed > 0).slice(0, 5);
  const [first] = shown;
  if (first === undefined) return `No request failed ${between(windows.now)}.${cited(evidenceId)}`;
  const [service = '', name = ''] = first.names;
  const isWorse =
    look.found !== undefined &&
    worseOf(look.found).failing.some((one) => one.service === service && one.operation === name);
  const before =
    look.found === undefined ? '' : isWorse ? ' That is more than before.' : ' That is not clearly more than before.';
  return `Most errors are of ${code(service, 60)}, at ${code(name, 80)}: ${first.failed} of ${first.calls} failed (${percent(first.failed / first.calls)}) ${between(windows.now)}.${cited(evidenceId)}${before}${sinceThen(look)}\n\nBy number of failures:\n${bullets(shown.map(line))}`;
}

const anyRequest =
  /^(?:(?:failed |failing )?(?:requests?|calls?|hits?|visits?|spans?)|traffic|throughput|request rate|errors?|failures?|exceptions?|(?:error|failure) rate)(?: per \w+)?$/;

export async function* count(look: Look, asked: string): Step<string> {
  const what = asked
    .replace(
      /\s+\b(?:per|an?|each|every|in|during|over|since|within|today|yesterday|between|from|this|last|we|you|they|there)\b.*$/,
      '',
    )
    .trim();
  if (anyRequest.test(what)) return yield* countAll(look, what);
  const [, status] = statusCode.exec(what) ?? [];
  if (status !== undefined) return yield* countAnswers(look, status);
  const { answer, evidenceId } = yield* countCalled(look, what);
  return (
    answer ??
    `I cannot count ${code(what, 60)}: no operation is called like that ${between(look.windows.now)}.${cited(evidenceId)} Name an operation or a service, or ask \`how many requests\`.`
  );
}

/** `429`, `5xx errors` */
const statusCode = /^(?:https?[ -]?)?([1-5](?:\d\d|xx))s?(?: (?:errors?|responses?|answers?|codes?))?$/;

/** By what servers answered; by what callers were answered where no server says it. */
async function* countAnswers({ desk, windows }: Look, status: string): Step<string> {
  const { write } = desk;
  const answer = firstAttribute(write, 's.attributes', httpStatus);
  const counts = (kind: string) =>
    tally(desk, {
      question: `How many answers were ${code(status, 20)}?`,
      range: windows.now,
      by: ['s.service_name', 's.name'],
      where: [`s.kind = '${kind}'`, write.matches(answer, `^${status.replace('xx', '[0-9][0-9]')}$`)],
    });
  const served = yield* counts('SERVER');
  const { rows, evidenceId } = served.rows.length > 0 ? served : yield* counts('CLIENT');
  if (rows.length === 0) return `No answer was ${code(status, 20)} ${between(windows.now)}.${cited(evidenceId)}`;
  const total = rows.reduce((sum, { calls }) => sum + calls, 0);
  const list = rows.slice(0, 5).map(({ names: [service = '', name = ''], calls }) => {
    return `${code(service, 60)} ${code(name, 80)}: ${calls}`;
  });
  const who = served.rows.length > 0 ? 'by operation' : 'by the calls that got them';
  return `${total} ${total === 1 ? 'answer was' : 'answers were'} ${code(status, 20)} ${between(windows.now)}, ${who}:${cited(evidenceId)}\n${bullets(list)}`;
}

/** Requests to operations that are called like that; no answer where there are none. */
async function* countCalled(
  look: Look,
  what: string,
): Step<{ readonly answer: string | undefined; readonly evidenceId: string }> {
  const { desk, windows } = look;
  const stem = what.replace(/(?:ies|e?s|y)$/, '').replaceAll(/[^a-z0-9]/g, '.');
  const { rows, evidenceId } = yield* tally(desk, {
    question: `How many ${code(what, 60)} were there?`,
    range: windows.now,
    by: ['s.service_name', 's.name'],
    where: [requests, desk.write.matches('s.name', `(?i)${stem}`)],
  });
  const [first] = rows;
  if (first === undefined) return { answer: undefined, evidenceId };
  const [service = '', name = ''] = first.names;
  const others = rows.slice(1, 4);
  const answer = [
    `${first.calls} at ${code(service, 60)} ${code(name, 80)} ${between(windows.now)}, ${perMinute(look, first.calls)}: ${first.calls - first.failed} went through, ${first.failed} failed.${cited(evidenceId)}${sinceThen(look)}`,
    ...(others.length === 0 ? [] : [`Also called like that:\n${bullets(others.map(line))}`]),
  ].join('\n\n');
  return { answer, evidenceId };
}

function perMinute({ windows }: Look, calls: number): string {
  const rate = calls / Math.max(1, lengthOf(windows.now) / 60_000);
  return `${rate.toFixed(rate < 10 ? 1 : 0)} a minute`;
}

/** Requests from outside, or those to a service that is named; the failures of them first where these are asked for. */
async function* countAll(look: Look, what: string): Step<string> {
  const { desk, windows } = look;
  const service = look.known.find((name) => isNamed(look.text, name));
  const named =
    /\bdid (?:the |our )?(?!(?:we|you|they|i|it|users|customers|people)\b)([\w./-]*\w) (?:get|receive|serve|handle|see|take)\b/i;
  const stranger = service === undefined ? named.exec(look.text)?.[1] : undefined;
  if (stranger !== undefined) {
    return `No service called ${code(stranger, 60)} has sent spans, so its requests cannot be counted; \`how many requests\` counts those of all.`;
  }
  const where =
    service === undefined
      ? ["s.parent_span_id = ''"]
      : [`s.service_name = ${desk.write.literal(service)}`, ownWork('s.kind')];
  const asksForFailures = /^(?:fail|err|exc)/.test(what);
  const counts = (by: readonly string[]) =>
    tally(desk, {
      question: `How many ${code(what, 60)} were there?`,
      range: windows.now,
      by,
      where,
      order: asksForFailures ? 'failures' : 'calls',
    });
  const { rows: all, evidenceId } = yield* counts([]);
  const [whole] = all;
  const to = service === undefined ? '' : ` to ${code(service, 60)}`;
  if (whole === undefined) return `No requests${to} came in ${between(windows.now)}.${cited(evidenceId)}`;
  const { calls, failed } = whole;
  const each = yield* counts(['s.service_name', 's.name']);
  const shown = asksForFailures ? each.rows.filter((row) => row.failed > 0) : each.rows;
  const [share, often] = [percent(failed / calls), perMinute(look, asksForFailures ? failed : calls)];
  const said = asksForFailures
    ? `${failed} of ${calls} requests${to} failed (${share}) ${between(windows.now)}, ${often}.`
    : `${calls} requests${to} came in ${between(windows.now)}, ${often}; ${failed} of them failed (${share}).`;
  const most = shown.length === 0 ? '' : `\n\nMost of them:\n${bullets(shown.slice(0, 4).map(line))}`;
  return `${said}${cited(evidenceId)}${sinceThen(look)}${most}`;
}

/** Whether what was found is of the stretch that is looked at. */
function isOfThen({ windows }: Look, found: Found): boolean {
  return worseOf(found).range?.start.getTime() === windows.now.start.getTime();
}

/** How a service fares; what an investigation found of the same stretch holds. */
export async function* faring(look: Look, service: string): ReturnType<typeof fares> {
  const { desk, windows, found } = look;
  const fared = yield* fares(desk, windows, service);
  if (fared === undefined || found === undefined || !isOfThen(look, found)) return fared;
  const { failing, slow } = worseOf(found);
  const isFound = [...failing, ...slow].some((one) => one.service === service);
  return { ...fared, isWell: fared.isWell && !isFound };
}

const part =
  /\b(?:ok(?:ay)?|fine|healthy|well|up|down|slow|failing|broken|working) (?:in|for|on|at|from|with) (?:the )?(?!(?:me|us|you|them|all|every\w*|any\w*|general|total|fact|users|customers|people|moment|now)\b)([\w./-]*\w)(?: (?:region|zone|cluster|customers?|users?|tenants?))?\W*$/i;

/** `is booking ok in eu-central-1?` is of those of its requests alone that have that value. */
export function placeIn({ text, today, known }: Look): string | undefined {
  const place = readTimeRange(text, today) === undefined ? part.exec(text)?.[1] : undefined;
  return place === undefined || known.includes(place.toLowerCase()) ? undefined : place;
}

/** By attributes of the spans, else by those of what sends them. */
async function* faringIn({ desk, windows }: Look, service: string, value: string): ReturnType<typeof fares> {
  const own = yield* fares(desk, windows, service, { column: 's.attributes', value });
  return own ?? (yield* fares(desk, windows, service, { column: 's.resource_attributes', value }));
}

export async function* health(look: Look, what: string): Step<string | undefined> {
  const service = look.known.find((name) => isNamed(what, name) || name.toLowerCase() === what);
  if (service === undefined) return undefined;
  const place = placeIn(look);
  const there = place === undefined ? undefined : yield* faringIn(look, service, place);
  const fared = there ?? (yield* faring(look, service));
  if (place !== undefined && there === undefined) {
    const all = fared === undefined ? '' : ` All of it: ${fared.text}`;
    return `No span of ${code(service, 60)} has the value ${code(place, 60)} ${between(look.windows.now)}, so how it fares there is not known.${all}`;
  }
  if (fared === undefined) {
    return `${code(service, 60)} has sent no spans and no logs ${between(look.windows.now)}, so how it fares is not known; ${code(`only ${service}`, 80)} looks at what else it sends.`;
  }
  const isBad = /\b(?:down|slow|failing|broken|affected)\b/i.test(look.text);
  const isQuestion = /^(?:is|are)\b/i.test(look.text.trim());
  const answers = !fared.isWell && !fared.isDown && /\bdown\b/i.test(look.text);
  if (fared.endedAt !== undefined) {
    const until = fared.isWell ? 'Until then it was no worse than before' : 'It was worse than before until then';
    return `${code(service, 60)} has sent nothing since ${moment(fared.endedAt)}. ${until}: ${fared.text}${sinceThen(look)}`;
  }
  const { found } = look;
  const isCause =
    place === undefined && found !== undefined && found.conclusion.service === service && isOfThen(look, found);
  if (isCause && fared.isWell) {
    // A used-up resource shows in none of its requests yet.
    const no = isQuestion ? (isBad ? 'Yes, by what was found: ' : 'No, by what was found: ') : '';
    return `${no}${gist(found)} Its requests are no worse than before: ${fared.text}${sinceThen(look)}`;
  }
  const word = isQuestion ? (answers || fared.isWell === isBad ? 'No: ' : 'Yes: ') : '';
  const lines = `logs ${fared.isWell ? 'no ' : ''}more warnings and errors than before`;
  const how = fared.isWell ? 'is well, no worse than before' : `${answers ? 'answers, but ' : ''}is worse than before`;
  return `${word}${code(service, 60)} ${fared.isLogs ? lines : how}. ${fared.text}${sinceThen(look)}`;
}
