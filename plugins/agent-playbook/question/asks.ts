import type { Assignment, EarlierInvestigation } from '../../../src/contract/agent/index.ts';
import type { TimeRange } from './time-range.ts';

/** What is asked, read from what people wrote in the chat; a later message changes what an earlier one said. */
export interface Question {
  /** The latest message of a person, or the incident's title; in English, and without what was pasted. */
  readonly text: string;
  readonly range?: TimeRange;
  /** `… since 14:00`: the person says when it began. */
  readonly beganAt?: Date;
  /** `compare with 13:00 to 13:30`: what is usual. */
  readonly references: readonly TimeRange[];
  readonly asks: Asks;
  /** Messages of people, newest first: service names are looked for in them once it is known which there are. */
  readonly texts: readonly string[];
  /** Those of them whose services are meant: the latest, and what it merely moves in time. */
  readonly meant: readonly string[];
  readonly isForeign: boolean;
  /** With lines of a log in it, whose times are not what is asked about. */
  readonly isPasted: boolean;
}

/** The services that the question is about. */
export interface Focus {
  readonly services: readonly string[];
  /** `only payment`: nothing else is looked at. */
  readonly only: boolean;
}

/** What is wanted. All but an investigation is answered directly, from what was found before or by a query of its own. */
export type Asks =
  /** Perhaps of one service. */
  | { readonly kind: 'investigation'; readonly of?: string }
  | { readonly kind: 'help' | 'unknown' | 'greeting' | 'thanks' | 'people' | 'order' }
  | { readonly kind: 'queries' | 'reasons' | 'certainty' | 'unchecked' }
  /** Perhaps of one service. */
  | { readonly kind: 'logs'; readonly of?: string | undefined }
  /** The slowest or only those that failed, and one alone, where these are asked for. */
  | { readonly kind: 'traces'; readonly by: 'failures' | 'slowness' | undefined; readonly one: boolean }
  /** `what is E3?` */
  | { readonly kind: 'evidence'; readonly ids: readonly string[] }
  | { readonly kind: 'onset' | 'version' | 'changes' | 'advice' | 'summary' | 'state' }
  /** `statements` are what services ask of databases; `queries` what the agent asked. */
  | { readonly kind: 'slowest' | 'failing' | 'statements' }
  /** What it names: `affected` countries, `count` of orders, `blame` on the database, `health` of cart, `callers` of payment, `lastRun` of a job. */
  | {
      readonly kind: 'affected' | 'count' | 'blame' | 'health' | 'callers' | 'callees' | 'lastRun';
      readonly what: string;
    }
  /** By its id. */
  | { readonly kind: 'trace'; readonly what: string };

/**
 * Which of these a message asks for. What is understood in no other way is a question to investigate; in a chat in which
 * something was found already it has to name something to look into.
 */
export function readAsks(message: string, { earlier = [] }: Pick<Assignment, 'earlier'>): Asks {
  const text = message.trim();
  if (text.length <= longestOrder && orders.some((form) => form.test(text))) return { kind: 'order' };
  const [trace] = traceId.exec(text.length <= longestDirect ? text : '') ?? [];
  if (trace !== undefined) return { kind: 'trace', what: trace.toLowerCase() };
  if (showing.traces.test(text)) {
    const by = /\bslow/i.test(text) ? 'slowness' : /\b(?:fail|err)/i.test(text) ? 'failures' : undefined;
    return { kind: 'traces', by, one: oneTrace.test(text) };
  }
  if (showing.logs.test(text)) return { kind: 'logs', of: logsOf.exec(text)?.slice(1).find(Boolean)?.toLowerCase() };
  if (text.length <= longestDirect && statements.some((form) => form.test(text))) return { kind: 'statements' };
  if (showing.queries.test(text)) return { kind: 'queries' };
  if (/^(?:help(?: me)?|\?+)\W*$|\bwhat (?:else )?can (?:i ask|you do)\b/i.test(text)) return { kind: 'help' };
  const ids = [...text.matchAll(/\bE\d{1,4}\b/gi)].map(([id]) => id.toUpperCase());
  const [last] = earlier;
  if (last !== undefined && ids.length > 0 && text.length <= longestAboutEvidence) return { kind: 'evidence', ids };
  if (last !== undefined && asksForReasons(text, last)) return { kind: 'reasons' };
  const direct = text.length <= longestDirect ? readDirect(text) : undefined;
  // Whether a service fails that nobody has looked at yet is what an investigation is for.
  if (direct?.kind === 'health' && last === undefined) return { kind: 'investigation', of: direct.what };
  if (direct !== undefined) return direct;
  if (last === undefined) return { kind: 'investigation' };
  return isInvestigable(text) || narrowed(text) !== undefined || namesService(text, earlier)
    ? { kind: 'investigation' }
    : { kind: 'unknown' };
}

/** Alone, or after what tells it from an attribute's value: `what happened in …`, `trace …`. */
const traceId = /(?<=(?:^|\btraces?(?:[ _-]id)?|\bhappen\w* in)[\s:=`"']*)[0-9a-f]{32}\b/i;
const oneTrace = /\b(?:an?|one|the) (?:[a-z]+ ){0,3}trace\b/i;
const longestAboutEvidence = 80;
const longestDirect = 200;
const longestOrder = 300;

const show = String.raw`\b(?:show|list|give|see|find|print)\s+(?:me\s+)?(?:(?:the|an?|all|some|any|its|their|those|these|your|of|worst|slow|slowest|failing|failed|error|relevant|example)\s+)*`;
const bare = String.raw`^(?:and\s+)?(?:the\s+)?`;
const end = String.raw`(?:\s+please)?\W*$`;
const showing = {
  traces: new RegExp(`${bare}traces?${end}|\\b(?:show|list|give|see|which|find)\\b[^.?!]{0,40}\\btraces?\\b`, 'i'),
  logs: new RegExp(
    `${bare}logs?${end}|${show}logs?\\b|${show}log lines?\\b|\\bwhat (?:did|does) [^.?!]{1,40} log\\b`,
    'i',
  ),
  queries: new RegExp(
    `${bare}(?:sql|quer(?:y|ies))${end}|${show}(?:sql|quer(?:y|ies))\\b|\\bwhat (?:sql|quer(?:y|ies)) did you\\b`,
    'i',
  ),
};

/** Before the agent's own queries are shown: `show me the slow queries` does not mean these. Who asks why wants it looked into. */
const statements = [
  /^(?:(?:and|but|so|ok(?:ay)?)\W+)*(?:(?:show|list|give|find|see|print|which|what|are there|were there|is there|is it|any|the)\b[^.?!,]{0,30})?\b(?:slow(?:est|er)?|expensive|heav(?:y|iest)|worst|long(?:est)?[- ]running|longest|fail(?:ing|ed)) (?:(?:sql|db|database) )?(?:quer(?:y|ies)|statements?)\b/i,
  /\b(?:which|what) (?:(?:sql|db|database) )?(?:quer(?:y|ies)|statements?) (?:is|are|was|were|does|do|did|takes?|took|got|gets?|became|fails?|failed|runs?|ran)\b(?! you\b)/i,
];

const logsOf =
  /\bwhat (?:did|does) (?:the |our )?([\w./-]*\w)(?: service)? log\b|\blogs? (?:lines? )?(?:of|from|for|by) (?:the |our )?(?!(?:it|this|that|them)\b)([\w./-]*\w)/i;

/** What only somebody with hands on the system can do; and what no question about telemetry is. */
const orders = [
  /^(?:(?:please|can you|could you|would you|now|then|just|ok(?:ay)?|let's|go ahead and)[,\s]+)*(?:roll(?:ing)?(?: (?:it|this|that|them))?[\s-]?back|revert|delete|drop|remove|erase|purge|truncate|restart|reboot|kill|scale|deploy|redeploy|silence|mute|page|notify|email|ack(?:nowledge)?|resolve|close|assign|disable|enable|drain|fail ?over|turn o(?:n|ff)|fix|undo)\b(?!.*\?\s*$)/i,
  /\b(?:ignore|disregard|forget) (?:all |any )?(?:the |your |of )*(?:previous|prior|above|earlier) (?:instructions?|prompts?|messages?|rules)\b/i,
];

const subject = String.raw`(?:users?|customers?|clients?|tenants?|accounts?|people|visitors?|persons?)`;
const adverbs = String.raw`(?:(?:still|also|really|even|actually|currently|now|too) )*`;
const lead = String.raw`^(?:(?:and|but|so|or|ok(?:ay)?|hm+)[,\s]+)*`;

/** The first that fits is taken; `what` is the first group of a pattern. */
const direct: readonly (readonly [
  kind: Exclude<Asks['kind'], 'evidence' | 'trace' | 'traces'>,
  forms: readonly RegExp[],
])[] = [
  [
    'greeting',
    [/^(?:hi|hello|hey|good (?:morning|afternoon|evening)|howdy|yo|moin)(?: there| all| everyone| sightline)?\W*$/i],
  ],
  [
    'thanks',
    [
      /^(?:(?:ok(?:ay)?|great|good|perfect|cool|nice|awesome|all right|alright|many|got it|understood)[,.!\s]*)*(?:thanks?|thank you|thx|cheers)?(?: (?:a lot|so much|very much|you))?[^\p{L}\p{N}]*$/iu,
    ],
  ],
  [
    'people',
    [
      /\bon[\s-]?call\b/i,
      /\b(?:who|which team|whom) (?:owns?|maintains?|runs|is responsible|deployed|released|should (?:i|we) (?:call|page|contact|ask|wake))\b/i,
      /\bphone number\b|\bescalat/i,
    ],
  ],
  [
    'callers',
    [
      /\b(?:who|what|which (?:services?|ones?))(?: else)? (?:calls|call|is calling|are calling|uses|use|depends? on|relies on|rely on|talks? to|needs|invokes?) (?:the |our )?(?!(?:fail|are|is|was|were|take|took|time|go|get|do|did|have|has|break|hang|slow|most|to|more|less)\w*\b)([\w./-]*\w)(?: service)?\W*$/i,
      /\b(?:callers|clients|dependents|consumers|(?:up|down)stream) of (?:the |our )?([\w./-]*\w)(?: service)?\W*$/i,
      /\bwhat (?:would|will|could|might) (?:happen|break|fail|stop|be affected) (?:if|when|without) (?:the |our )?(?!(?:it|this|that|they|we|you|i)\b)([\w./-]*\w)(?: service)?(?: (?:is|was|were|goes|went|fails?|failed|breaks?|broke|dies|died|stops?|stopped)\b[^.!?]{0,30})?\W*$/i,
    ],
  ],
  [
    'callees',
    [
      /\b(?:who|what|which services?)(?: else)? (?:does|do|did) (?:the |our )?([\w./-]*\w)(?: service)? (?:call|use|depend on|rely on|talk to|need|invoke)\W*$/i,
      /\b(?:callees|dependencies) of (?:the |our )?([\w./-]*\w)(?: service)?\W*$/i,
    ],
  ],
  [
    'summary',
    [
      /^what happened\W*$|\b(?:(?:in )?(?:one|a single) (?:sentence|line)|one-liner|(?:for|on|to) (?:the |our |a )?status page|post-?mortem|(?:tell|say to|inform) (?:the |our |my )?(?:customers|users|boss|manager|management|stakeholders|team))\b/i,
      /\b(?:sum+ary|summari[sz]e|sum (?:it|this) up|tl;?dr|recap|timeline|chronology|in short|status update|hand-?over|brief me)\b/i,
    ],
  ],
  [
    'advice',
    [
      /\bwhat (?:should|shall|can|do|must) (?:i|we) (?:do|try|check)\b|\bnext steps?\b|\bwhat to do\b|\b(?:now|and) what\W*$|^what now\b/i,
      /\bhow (?:do|can|should|could) (?:i|we) (?:fix|mitigate|solve|resolve|stop)\b|\bshould (?:i|we) (?:roll|revert|restart|scale|page)\b/i,
    ],
  ],
  [
    'unchecked',
    [/\b(?:did|have|has) ?(?:you )?(?:not|n't) (?:you )?(?:been )?check/i, /\bwhat (?:don't you|do you not) know\b/i],
  ],
  [
    'certainty',
    [
      /\bhow (?:sure|certain|confident) are you\b/i,
      /^(?:are you (?:\w+ )?(?:sure|certain|confident|positive)\b[^.!?]{0,40}|really)\W*$/i,
    ],
  ],
  [
    'lastRun',
    [
      /\bwhen (?:did|has) (?:the |our )?(.+?) last (?:run|ran|execute|complete|finish|succeed|start)\w*\W*$/i,
      /\bwhen (?:was|is) (?:the |our )?last (?:successful |failed )?(?:run|execution) of (?:the |our )?(.+?)\W*$/i,
      /\bwhen (?:was|is) (?:the |our )?last ((?!(?:time|deploy|release|rollout|change|incident|outage|alert|crash|error|failure)\w*\b).+?)\W*$/i,
      /\blast (?:run|execution) of (?:the |our )?(.+?)\W*$|\blast time (?:the |our )?(.+?) ran\W*$/i,
      /^(?:did|has) (?:the |our )?(.+? (?:job|batch|backup|import|export|cron|task|sync|report)) run\b/i,
    ],
  ],
  [
    'onset',
    [
      /\bsince when\b|\bwhen (?:did|was|has|is) (?!.*\b(?:fixed|over|deploy)).*\b(?:start|began|begin|begun|happen|break|first|fail|slow)/i,
      new RegExp(`${lead}when\\W*$|\\bwhat time did\\b|\\bhow long (?:has|is|have)\\b`, 'i'),
    ],
  ],
  [
    'health',
    [
      new RegExp(
        `${lead}(?:is|are|was|were) (?:the |our )?(?!(?:any|every|some|it|this|that|these|those|all|there|they|we|you)\\w*\\b)([\\w./ -]+?) ${adverbs}(?:affected|impacted|hit)(?: (?:too|as well|by \\w+))?\\W*$`,
        'i',
      ),
    ],
  ],
  [
    'affected',
    [
      new RegExp(`\\bhow many (${subject})\\b`, 'i'),
      /\b(?:which|what) ([a-z]+) (?:is|are|were|was) (?:\w+ )?(?:affected|impacted|hit)\b/i,
      /\b(?:which|what) (?!(?:service|version|release|build|one|time|day|way)s?\b)([a-z]+) (?:is|are|was|were) (?:the )?(?:worst|most affected)\b/i,
      /\b(?:affected|impact(?:ed)?|blast radius|how (?:bad|big|severe|widespread))\b/i,
      /^(?:does|is) (?:it|this|that) (?:hit|affect)(?:ing)? (?:everyone|everybody|all)\b/i,
      /\b(?:how many|(?:what|which) (?:percentage|percent|share|fraction|proportion) of(?: the| our| all)?) ([a-z]+) (?:\w+ )?(?:failed|fail|failing|broke|lost|late|slow|delayed|missing|stuck)\b/i,
      new RegExp(`\\bwh(?:ich|at) (${subject})\\b`, 'i'),
      /^(?:(?:and|but) )?which ((?!(?:one|time|day|version|release|build|deploy\w*|way)s?\b)[a-z]+)\W*$/i,
    ],
  ],
  [
    'blame',
    [
      new RegExp(
        `${lead}why (?:not|isn't it|is it not) (?:the |an? |our )?(?!(?:roll|revert|restart|scale|just)\\b)(.+?)(?: itself)?\\W*$`,
        'i',
      ),
      /^(?:is|are|was|were|do|does|did) .{1,60}? (?:because of|due to|caused by) (?:the |an? |our )?(.+?)\W*$/i,
      /^(?:did|has|have|is|was) (?:the |our |there )?(?:more )?(traffic|load|demand)(?: (?:gone?|increas\w*|r[io]se\w*|gr[eo]w\w*|spike\w*|peak\w*|higher|up|unusual\w*|drop\w*|f[ae]ll\w*|declin\w*|decreas\w*|lower|down)\b.*)?\W*$/i,
      new RegExp(
        `${lead}(?:is|was|could|can|might|may) (?:it|this|that)(?: be| really| only| just| maybe)* (?:because of |due to |caused by )?(?:(?:the|an?|our) )?(?!(?:still|fixed|over|resolved|solved|gone|down|up|slow|ok|broken|bad|getting|back|working|happening|going)\\b)(.+?)\\W*$`,
        'i',
      ),
      new RegExp(
        `${lead}(?:is|was|are) (?:the |our )?(.+?) (?:to blame|harmful|guilty|responsible|involved|related|at fault|(?:the|a) (?:root )?(?:cause|culprit|problem|reason))\\b`,
        'i',
      ),
      // Of what is used up.
      new RegExp(
        `${lead}(?:is|are|was|were) (?:the |our )?((?:[\\w-]+ )?(?:disks?|memory|ram|cpu|heap|pools?)) ${adverbs}(?:(?:almost|nearly|too) )?(?:full|exhausted|used up|maxed(?: out)?|saturated|high|low|leaking|running (?:out|low))\\W*$`,
        'i',
      ),
      /\b(?:is|was) there an? (memory leak)\b|\b(?:ran|run|running) out of ([\w ]+?)\W*$/i,
      // What broke by itself, or at some time, is blamed for nothing.
      new RegExp(
        `${lead}(?:did|has|have) (?:the |our )?(?!(?:it|this|that|they|we|you|i|any\\w*|some\\w*|every\\w*)\\b)(.+?) (?:cause|br[eo]ak|broke|trigger)\\w* (?!(?:again|now|today|yesterday|last|at|in|on|since|around|about|between|before|after|down)\\b)`,
        'i',
      ),
    ],
  ],
  [
    'state',
    [
      /\b(?:is|are|has|have|did) (?:(?:the )?[\w./-]+ )?(?:been )?(?:now |already |really )?(?:(?:fixed|resolved|solved|over|recover(?:ed)?|stopped|gone|better|ended|back to normal)\b|stop\W*$)/i,
      /\bdid (?:it|this|that|(?:the |our )?(?:rollback|roll back|revert|fix|hot-?fix|patch|restart|change|deploy\w*|release|flag)) (?:help|work)\b|\bdid (?:it|this|that) get (?:any )?(?:better|worse)\b/i,
      /\bstill\b/i,
      /\b(?:ongoing|going on|happening) ?(?:right )?(?:now)?\W*$/i,
      /\bgetting (?:any )?(?:better|worse)\b|\bwhen (?:did|does|will|was) (?:it|this|that) (?:be )?(?:end|stop|over|fixed|resolved)/i,
    ],
  ],
  [
    'count',
    [
      /\bhow many (.+?)(?: (?:are|were|did|do) .*)?\??$/i,
      /\b(traffic|throughput|request rate|requests per \w+)\b/i,
      /\bwhat(?:'s| is| was) (?:the |our )?(?:current |overall )?((?:error|failure) rate)\b(?! (?:of|for|in|at)\b)/i,
    ],
  ],
  [
    'version',
    [
      /\b(?:which|what) (?:versions?|releases?|builds?)\b|\b(?:which|what) deploy(?:ment)?s? (?:broke|caused|is to blame)/i,
      /^(?:the )?versions?\W*$/i,
      /^(?:is|are) (?:(?:the )?version )?v?\d+(?:\.\d+)+[\w.+-]* (?:already |now )?(?:everywhere|live|deployed|rolled out)\b/i,
    ],
  ],
  [
    'changes',
    [
      /\bw(?:hat|ht|aht|hta|at)(?:'s| is| has| was| else)? (?:have |has )?(?:changed|new|different|deployed|released)\b/i,
      /\bwhen (?:was|were|did) .*\b(?:deploy|releas|roll)/i,
      /^(?:was|were|is|are|did|has|have) .*(?:\b(?:flags?|toggles?|config\w*)\b.* (?:chang|turn|flip|switch|enabl|disabl|toggl)\w*|\bnew (?:versions?|releases?)\W*$)/i,
      /\b(?:did|has|have) (?:any|some)(?:one|body) (?:chang|deploy|releas|roll|flip|toggl|turn)\w*/i,
      /\b(?:was|were|is|has|did) (?:anything|something) (?:been |get )?(?:deployed|released|changed?|rolled out)\b/i,
      /\b(?:was|were|is|are|any) (?:there )?(?:an?|any|some)? ?(?:new |recent )?(?:deploy(?:ment|s|ed)?|releases?|rollouts?|changes?)\b/i,
    ],
  ],
  ['slowest', [/\b(?:slowest|most slow|highest latency|worst latency)\b/i]],
  [
    'failing',
    [
      /\bwhich services? (?:is|are|was|were) (?:the )?worst\b|\bmost (?:errors|failures|failing)\b|\bfails? (?:the )?most\b|\bhighest error rate\b/i,
    ],
  ],
  [
    'health',
    [
      new RegExp(
        `${lead}(?:is|are) (?:the )?(?!(?:any|every|some|it|this|that|all|there)\\w*\\b)([\\w./-]+)(?: service)? ${adverbs}(?:ok(?:ay)?|fine|healthy|well|up|down|slow|failing|broken|working|all ?right)\\b`,
        'i',
      ),
      /^how (?:is|are) (?:the )?([\w./-]+)(?: service)?(?: doing)?\W*$/i,
      /\b(?:error rate|latency|p\d\d|median|failure rate) (?:of|for|in) (?:the )?([\w./-]+)/i,
    ],
  ],
];

function readDirect(text: string): Asks | undefined {
  for (const [kind, forms] of direct) {
    const match = forms.map((form) => form.exec(text)).find((found) => found !== null);
    if (match === undefined) continue;
    const what = (match.slice(1).find(Boolean) ?? '').toLowerCase().slice(0, 80);
    switch (kind) {
      case 'affected':
      case 'count':
      case 'blame':
      case 'health':
      case 'callers':
      case 'callees':
      case 'lastRun':
        return { kind, what };
      default:
        return { kind };
    }
  }
  return undefined;
}

const doubts = [
  /^(?:(?:but|and|so)\s+)?why(?:\s+(?:is that|so|that|do you (?:think|say) (?:so|that|this)))?\W*$/i,
  /^(?:how do you know|how come|explain|prove it|show (?:me )?(?:the |your )?evidence)\b[^.!?]{0,40}\W*$/i,
  /\bwhat (?:makes you (?:think|say)|is (?:the|your) evidence)\b/i,
];

/** `why?`, or `why payment?` where payment is what was named. */
function asksForReasons(text: string, { conclusion: { service } }: EarlierInvestigation): boolean {
  const named = /^(?:(?:but|and|so)\s+)?why\s+[`'"]?([^\s`'"?]+)[`'"]?\s*\?*$/i.exec(text)?.[1];
  return (
    doubts.some((doubt) => doubt.test(text)) || (named !== undefined && named.toLowerCase() === service.toLowerCase())
  );
}

const investigable = [
  /\b(?:only|just|again|check|look|investigate|analy[sz]e|compare[d]?|focus|try|retry)\b/i,
  /\b(?:wrong|fail\w*|errors?|slow\w*|broken?|breaks?|down|latenc\w+|time-?outs?|crash\w*|spikes?|problems?|issues?|incident|outages?|happen\w*|cause|all services|everything)\b/i,
];

/** Only another time: `and yesterday?`, `since 14:00`. */
const moves =
  /^(?:(?:and|but|so|or|ok(?:ay)?)[,\s]+)*(?:(?:what|how) about\s+)?(?:(?:right )?now|at the moment|currently|today|yesterday|tonight|this \w+|last \w+|the (?:day|hour|week|minute|last|past|\d+|two|three|half)\b|\d+|an?|one|two|three|since|from|between|before|after|at|around|about|in the last|earlier|later|go back|look back)\b/i;

function isInvestigable(text: string): boolean {
  return investigable.some((form) => form.test(text)) || isMove(text);
}

/** The word of a question that may be a service: of `is audit ok?`, `has audit recovered?`. */
export function subjectOf({ asks, text }: Pick<Question, 'asks' | 'text'>): string | undefined {
  if (asks.kind === 'investigation') return asks.of;
  if (asks.kind === 'health' || asks.kind === 'blame') return asks.what;
  if (asks.kind !== 'state') return undefined;
  return /^(?:is|are|has|have|did|does|do|was|were) (?:the |our )?(?!(?:any|every|some|it|this|that|these|those|all|there|they|we|you)\w*\b)([\w./-]+)/i
    .exec(text.trim())?.[1]
    ?.toLowerCase();
}

function isMove(text: string): boolean {
  return text.length <= 60 && moves.test(text);
}

/** Whether it says no more than another time, or what to show, and is about what the question before it was about. */
export function goesOn(message: string): boolean {
  const text = message.trim();
  return isMove(text) || showing.traces.test(text) || showing.logs.test(text);
}

/** What `only amex customers` or `and in eu-west?` narrows to. */
export function narrowed(text: string): string | undefined {
  const named =
    /\b(?:only|just|solely)\s+[`'"]?([\w./-]*\w)/i.exec(text) ??
    /^(?:and|(?:what|how) about)\s+(?:(?:in|for|from|with|at|on)\s+)?(?:the\s+)?[`'"]?([\w./-]*\w)[`'"]?\W*$/i.exec(
      text.trim(),
    );
  return named?.[1];
}

/** A name that the telemetry had: `catalog`. */
function namesService(text: string, earlier: readonly EarlierInvestigation[]): boolean {
  const words = new Set(text.toLowerCase().match(/[\w./-]*\w/g) ?? []);
  return earlier.some(({ steps }) =>
    steps.some(({ columns, rows }) => {
      const at = columns.indexOf('service_name');
      return at >= 0 && rows.some((row) => words.has(String(row[at]).toLowerCase()));
    }),
  );
}
