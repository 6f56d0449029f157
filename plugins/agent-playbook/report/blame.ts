import { readRows } from '../notebook.ts';
import { names as isNamed, partOf } from '../question/question.ts';
import type { Step } from '../scene.ts';
import { between, cited, code, firstAttribute, inList, milliseconds, percent } from '../sql.ts';
import { tally, type Tallied } from '../steps/tally.ts';
import { describeVersion, newVersions } from '../steps/versions.ts';
import { faring } from './counts.ts';
import { gist, nothing, outside, stepOn, type Found, type Look } from './recall.ts';

const stores =
  /\b(?:databases?|db|sql|postgres\w*|mysql|mariadb|redis|valkey|mongo\w*|caches?|memcached|elasticsearch|oracle|dynamo\w*|cassandra|clickhouse)\b/;
const queues = /\b(?:kafka|queues?|rabbit\w*|messaging|broker|sqs|pulsar|nats)\b/;
const network = /\b(?:network|dns|connectivity|packets?|latency between)\b/;
const resource = /\b(?:cpu|memory|ram|disk|oom|resources?|saturat\w*|pool|connections|heap|gc|garbage)\b/;
const traffic = /\b(?:traffic|load|spike|peak|ddos|bots?|demand|visitors)\b/;
const place = /\b(?:nodes?|hosts?|pods?|instances?|zones?|regions?|machines?|containers?|clusters?)\b/;
const placeKey = /(?:^|[._])(?:node|host|pod|instance|zone|availability_zone|region|machine)(?:[._](?:name|id))?$/;
const release = /\b(?:versions?|releases?|deploy\w*|rollout|canary|upgrade|update)\b/;

/** What messages say where it is one of these. */
const signs: readonly (readonly [what: RegExp, sign: RegExp])[] = [
  [
    /\bdns\b/,
    /\bdns\b|getaddrinfo|\bENOTFOUND\b|\bEAI_AGAIN\b|\bNXDOMAIN\b|no such host|name resolution|name or service not known|could not resolve/i,
  ],
  [
    network,
    /getaddrinfo|\bECONN\w+|\bE(?:NOTFOUND|HOSTUNREACH|PIPE)\b|connection (?:refused|reset)|unreachable|no route to host/i,
  ],
  [/\b(?:memory|ram|oom|heap|gc|garbage)\b/, /\bOOM\w*|out of memory|\bheap\b|\bmemory\b|garbage collect/i],
  [/\bdisk\b/, /\bdisk\b|no space left|\bENOSPC\b/i],
  [/\b(?:pool|connections)\b/, /\bpool\b|too many (?:clients|connections)|connection slots/i],
  [/\bcpu\b/, /\bcpu\b|throttl/i],
];

/** Words for a kind of thing, which may also be a part of a service's name. */
export function isKind(what: string): boolean {
  return [stores, queues, network, resource, traffic, place, release].some((kind) => kind.test(what));
}

/** What an answer begins with where it is the cause, and where it is not. */
interface Verdicts {
  readonly guilty: string;
  readonly innocent: string;
}

const verdicts = {
  /** `is it redis?`, `is redis down?` */
  blame: { guilty: 'Yes', innocent: 'No: ' },
  /** `is redis ok?` */
  health: { guilty: 'No', innocent: 'Yes: ' },
  /** `how is redis?` */
  state: { guilty: 'Not well', innocent: '' },
} as const satisfies Record<string, Verdicts>;

/** `is it the database?`, `is the cart release to blame?`: yes or no, by which evidence, and what it is instead. */
export async function* blame(
  look: Look,
  found: Found,
  what: string,
  asked: keyof typeof verdicts = 'blame',
): Step<string | undefined> {
  const told = yield* judge(look, found, what, verdicts[asked]);
  return told && `${told.charAt(0).toUpperCase()}${told.slice(1)}`;
}

async function* judge(look: Look, found: Found, what: string, said: Verdicts): Step<string | undefined> {
  const services = look.known.filter((name) => isNamed(what, name) || name.toLowerCase() === what);
  // `is it cart or payment?`
  const service = services.find((name) => name === found.conclusion.service) ?? services[0];
  if (release.test(what)) return yield* ofRelease(look, found, service);
  if (service !== undefined) return yield* ofService(look, found, service);
  if (stores.test(what))
    return yield* ofCalls(look, found, {
      what,
      said,
      keys: ['db.system.name', 'db.system'],
      isAny: /\b(?:databases?|db|sql|caches?)\b/.test(what),
    });
  if (queues.test(what))
    return yield* ofCalls(look, found, {
      what,
      said,
      keys: ['messaging.system'],
      isAny: /\b(?:queues?|messaging|broker)\b/.test(what),
    });
  if (network.test(what))
    return saidSo(found, what, said) ?? ofStep(found, said, /neither of them spends/, 'the way between services');
  if (resource.test(what))
    return saidSo(found, what, said) ?? ofStep(found, said, /resource than before/, 'a used-up resource');
  if (traffic.test(what)) return yield* ofTraffic(look, found, said);
  const part = place.test(what) ? undefined : partOf(what, look.known);
  if (part !== undefined) return yield* ofService(look, found, part);
  return (
    ofAttribute(found, what, said, place.test(what)) ??
    (yield* ofCalls(look, found, { what, said, keys: [], isAny: false }))
  );
}

/** What it is by what was found. */
function instead(found: Found): string {
  return nothing(found) ?? `What was found: ${gist(found)}`;
}

async function* ofService(look: Look, found: Found, service: string): Step<string> {
  const name = code(service, 60);
  const { conclusion } = found;
  if (conclusion.service === service)
    return `Yes, by what was found (${conclusion.confidence} confidence): ${gist(found)}`;
  const fared = yield* faring(look, service);
  const how = fared === undefined ? `${name} has sent no spans and no logs in that time.` : `${name}: ${fared.text}`;
  if (fared?.isWell !== false) return `No: ${name} is no worse than before. ${how}\n\n${instead(found)}`;
  if (conclusion.service === '') return `Perhaps: ${name} is worse than before, and no cause was found. ${how}`;
  return `No: ${name} is worse than before, but that does not begin there by what was found. ${how}\n\n${instead(found)}`;
}

async function* ofRelease(look: Look, found: Found, asked: string | undefined): Step<string> {
  const guilty = found.conclusion.service;
  const service = asked ?? guilty;
  const { added, evidenceId } = yield* newVersions({ ...look.desk, windows: look.windows });
  const own = added.filter((one) => one.service === service);
  const fared = service !== '' && service !== guilty ? yield* faring(look, service) : undefined;
  const list = own.map(describeVersion).join('; ');
  if (own.length === 0) {
    const others = added.length === 0 ? '' : ` New are: ${added.map(describeVersion).join('; ')}.`;
    const whose = service === '' ? 'any service' : code(service, 60);
    return `No: no new version of ${whose} was seen ${between(look.windows.now)}.${others}${cited(evidenceId)}\n\n${instead(found)}`;
  }
  if (service === guilty)
    return `Probably yes: ${list}.${cited(evidenceId)} ${gist(found)} That the times agree does not prove it.`;
  if (fared?.isWell === false) {
    return `No, not by what was found, though ${code(service, 60)} is worse than before: ${list}.${cited(evidenceId)} ${fared.text}\n\n${instead(found)}`;
  }
  return `No: ${list} is new,${cited(evidenceId)} but ${code(service, 60)} is no worse than before. ${fared?.text ?? ''}\n\n${instead(found)}`;
}

interface Calls {
  readonly what: string;
  readonly said: Verdicts;
  /** Attributes that name the system; none where it is known by its address alone. */
  readonly keys: readonly string[];
  /** Any system of that kind. */
  readonly isAny: boolean;
}

/** Calls to databases, caches or queues: how they fare, now and before. */
async function* ofCalls(
  { desk, windows, known }: Look,
  found: Found,
  { what, said: { guilty, innocent }, keys, isAny }: Calls,
): Step<string | undefined> {
  const { write } = desk;
  const system = firstAttribute(write, 's.attributes', keys);
  const peer = firstAttribute(write, 's.attributes', ['server.address']);
  const byAddress = keys.length === 0;
  const words = what.split(/[^a-z0-9]+/).filter((word) => word.length > 3);
  const named = byAddress
    ? words.join('|')
    : what.replaceAll(/[^a-z0-9]/g, '').replace(/^(?:the)?postgres\w*/, 'postgres');
  if (named === '') return undefined;
  const counts = (range: Look['windows']['now']) =>
    tally(desk, {
      question: `How do calls to ${isAny ? 'databases, caches and queues' : code(what, 40)} fare?`,
      range,
      by: ['s.service_name', system, peer],
      where: [
        inList(write, 's.kind', ['CLIENT', 'PRODUCER']),
        isAny ? `${system} <> ''` : write.matches(byAddress ? peer : system, `(?i)${named}`),
      ],
      order: 'slowness',
    });
  const now = yield* counts(windows.now);
  const before = windows.before && (yield* counts(windows.before));
  const ids = cited(now.evidenceId, ...(before ? [before.evidenceId] : []));
  if (now.rows.length === 0) {
    const none = `no call to ${isAny ? 'a database or queue' : code(what, 40)} is in the traces ${between(windows.now)}`;
    const said = byAddress ? `I cannot tell, since ${none}` : `No sign of it: ${none}, so more cannot be told`;
    return `${said}.${ids}\n\n${instead(found)}`;
  }
  const pairs = now.rows.map((row) => ({
    row,
    past: before?.rows.find((one) => one.names.join(' ') === row.names.join(' ')),
  }));
  const bad = pairs.filter(({ row, past }) => past !== undefined && isWorse(row, past));
  const blamed = outside(found);
  const [first] = bad.toSorted(
    (a, b) => Number(isBlamed(b.row, found, blamed)) - Number(isBlamed(a.row, found, blamed)),
  );
  if (first?.past !== undefined) {
    const [service = '', kind = '', address = ''] = first.row.names;
    const where = `calls of ${code(service, 60)} to ${code(address || kind, 80)}${address === '' || kind === '' ? '' : ` (${code(kind, 40)})`}`;
    const text = `${where} take ${milliseconds(first.row.p95)} at p95 (${milliseconds(first.past.p95)} before), and ${first.row.failed} of ${first.row.calls} failed (${first.past.failed} of ${first.past.calls} before).${ids}`;
    const sends = known.includes(address)
      ? ''
      : ' It sends no telemetry of its own here, so what it does inside is not seen.';
    return isBlamed(first.row, found, blamed)
      ? `${guilty}, by what was found: ${text}${sends}\n\n${instead(found)}`
      : `Perhaps not as the cause, but ${text}\n\n${instead(found)}`;
  }
  const list = pairs.slice(0, 4).map(({ row, past }) => {
    const [service = '', kind = '', address = ''] = row.names;
    return `${code(service, 60)} to ${code(address || kind, 80)}: ${row.failed} of ${row.calls} failed, ${milliseconds(row.p95)} at p95${past ? ` (${milliseconds(past.p95)} before)` : ''}`;
  });
  const whose = isAny ? 'databases, caches and queues' : code(what, 40);
  return before === undefined
    ? `I cannot tell: there is nothing before to compare calls to ${whose} with. ${list.join('; ')}.${ids}\n\n${instead(found)}`
    : `${innocent}calls to ${whose} fail no more and are no slower than before. ${list.join('; ')}.${ids}\n\n${instead(found)}`;
}

function isWorse(row: Tallied, past: Tallied): boolean {
  const slower = row.p95 >= 2 * past.p95 && row.p95 - past.p95 >= 10e6;
  return (
    slower ||
    (row.failed >= 5 && row.failed / row.calls >= 3 * (past.failed / past.calls) && row.failed / row.calls >= 0.01)
  );
}

function isBlamed({ names: [service, kind, address] }: Tallied, found: Found, blamed: string | undefined): boolean {
  return (
    service === found.conclusion.service ||
    (blamed !== undefined && (blamed === code(address ?? '') || blamed === code(kind ?? '')))
  );
}

/** What failures or log lines say, where they name it. */
function saidSo(found: Found, what: string, { guilty }: Verdicts): string | undefined {
  const sign = signs.find(([kind]) => kind.test(what))?.[1];
  if (sign === undefined) return undefined;
  const { root_cause: cause, service, claims } = found.conclusion;
  if (service !== '' && sign.test(cause)) return `${guilty}, by what was found: ${gist(found)}`;
  const named = claims.find(({ text }) => sign.test(text));
  return (
    named &&
    `Perhaps, as there is this: ${named.text.replace(/\.$/, '')}.${cited(...named.evidence_ids)}\n\n${instead(found)}`
  );
}

/** What one question of the investigation answered. */
function ofStep(found: Found, { guilty, innocent }: Verdicts, question: RegExp, what: string): string {
  const step = stepOn(found, question);
  if (step === undefined) return `I cannot tell: ${what} was not looked at.\n\n${instead(found)}`;
  // `None does.` says nothing without its question.
  const asked = /^None\b/.test(step.observation) ? `${step.question} ` : '';
  const seen = `${asked}${step.observation}${cited(step.evidence_id)}`;
  const isIt = found.conclusion.claims.some(
    ({ status, evidence_ids: ids }, index) => index === 0 && status === 'supported' && ids.includes(step.evidence_id),
  );
  if (isIt && step.verdict === 'supports') return `${guilty}, by what was found: ${gist(found)} ${seen}`;
  return step.verdict === 'supports'
    ? `No, not by what was found, though there is this: ${seen}\n\n${instead(found)}`
    : `${innocent}${seen.charAt(0).toLowerCase()}${seen.slice(1)}\n\n${instead(found)}`;
}

/** `is traffic down?` is no question whether there is more of it. */
const less = /\b(?:down|drop\w*|fall\w*|fell|fewer|less|low|lower|declin\w*|decreas\w*)\b/i;

async function* ofTraffic({ desk, windows, text }: Look, found: Found, { innocent }: Verdicts): Step<string> {
  const fell = stepOn(found, /^Do far fewer requests come in/);
  if (less.test(text) && fell?.verdict === 'supports') return `Yes: ${fell.observation}${cited(fell.evidence_id)}`;
  const counts = (range: Look['windows']['now']) =>
    tally(desk, { question: 'How many requests came in?', range, by: [], where: ["s.parent_span_id = ''"] });
  const now = yield* counts(windows.now);
  const before = windows.before && (yield* counts(windows.before));
  const perMinute = (row: Tallied | undefined, { start, end }: Look['windows']['now']): number =>
    (row?.calls ?? 0) / Math.max(1, (end.getTime() - start.getTime()) / 60_000);
  const a = perMinute(now.rows[0], windows.now);
  if (windows.before === undefined || before === undefined) {
    return `I cannot tell: ${a.toFixed(0)} requests a minute came in ${between(windows.now)}, and there is nothing before to compare with.${cited(now.evidenceId)}\n\n${instead(found)}`;
  }
  const b = perMinute(before.rows[0], windows.before);
  const share = b === 0 ? Infinity : a / b - 1;
  const word = less.test(text)
    ? share <= -0.3
      ? 'Yes: traffic has fallen.'
      : 'No: traffic is not much less than before.'
    : share >= 0.5
      ? 'Perhaps: traffic has grown.'
      : `${innocent}traffic is not much more than before.`;
  return `${word} ${a.toFixed(0)} requests a minute ${between(windows.now)}, ${b.toFixed(0)} before${Number.isFinite(share) ? ` (${share >= 0 ? '+' : '-'}${percent(Math.abs(share))})` : ''}.${cited(now.evidenceId, before.evidenceId)}\n\n${instead(found)}`;
}

/** By what the bad spans have in common: a host, a customer, a card. Undefined where no attribute has such a value. */
function ofAttribute(found: Found, what: string, { guilty, innocent }: Verdicts, isPlace: boolean): string | undefined {
  const step = found.steps.findLast(
    ({ columns }) => columns.includes('attribute_value') && columns.includes('bad_total'),
  );
  const rows = step === undefined ? [] : readRows(step.columns, step.rows);
  const words = what.split(/[^\w.-]+/).filter((word) => word.length > 2);
  const fits = rows.find((row) =>
    isPlace
      ? placeKey.test(row.text('attribute'))
      : words.some((word) => row.text('attribute_value').toLowerCase() === word),
  );
  const share = (hits: string, total: string): string =>
    fits === undefined ? '' : percent(fits.number(hits) / Math.max(1, fits.number(total)));
  const tells =
    fits !== undefined &&
    fits.number('bad') / Math.max(1, fits.number('bad_total')) >= 0.8 &&
    fits.number('rest') / Math.max(1, fits.number('rest_total')) <= 0.5;
  const line =
    fits &&
    `${code(`${fits.text('attribute')}=${fits.text('attribute_value')}`, 120)}: ${share('bad', 'bad_total')} of the bad spans, ${share('rest', 'rest_total')} of the rest.${cited(step?.evidence_id ?? '')}`;
  if (tells) return `${guilty}, that is what they share. ${line}\n\n${instead(found)}`;
  if (isPlace)
    return `${innocent}no node, host or instance tells the bad spans from the rest.${line ? ` ${line}` : cited(...(step ? [step.evidence_id] : []))}\n\n${instead(found)}`;
  return line && `Not by itself. ${line}\n\n${instead(found)}`;
}
