import type { Assignment, EarlierInvestigation } from '../../../src/contract/agent/index.ts';
import type { TimeRange } from './time-range.ts';

/** What is asked, read from what people wrote in the chat; a later message changes what an earlier one said. */
export interface Question {
  /** The latest message of a person, or the incident's title. */
  readonly text: string;
  readonly range?: TimeRange;
  /** `… since 14:00`: the person says when it began. */
  readonly beganAt?: Date;
  /** `compare with 13:00 to 13:30`: what is usual. */
  readonly references: readonly TimeRange[];
  readonly asks: Asks;
  /** Messages of people, newest first: service names are looked for in them once it is known which there are. */
  readonly texts: readonly string[];
}

/** The services that the question is about. */
export interface Focus {
  readonly services: readonly string[];
  /** `only payment`: nothing else is looked at. */
  readonly only: boolean;
}

/** What is wanted. All but an investigation is answered from what was found before, where that is enough. */
export type Asks =
  | { readonly kind: 'investigation' }
  | { readonly kind: 'traces' | 'logs' | 'queries' | 'reasons' | 'help' }
  /** `what is E3?` */
  | { readonly kind: 'evidence'; readonly ids: readonly string[] };

/**
 * Which of these a message asks for. What is understood in no other way is a question to investigate; in a chat in which
 * something was found already it has to look like one, since "thanks" is none.
 */
export function readAsks(message: string, { earlier = [] }: Pick<Assignment, 'earlier'>): Asks {
  const text = message.trim();
  if (showing.traces.test(text)) return { kind: 'traces' };
  if (showing.logs.test(text)) return { kind: 'logs' };
  const [last] = earlier;
  if (last === undefined) return { kind: 'investigation' };
  if (showing.queries.test(text)) return { kind: 'queries' };
  const ids = [...text.matchAll(/\bE\d{1,3}\b/gi)].map(([id]) => id.toUpperCase());
  if (ids.length > 0 && text.length <= longestAboutEvidence) return { kind: 'evidence', ids };
  if (asksForReasons(text, last)) return { kind: 'reasons' };
  if (/^(?:help|\?+)\W*$|\bwhat (?:else )?can (?:i ask|you do)\b/i.test(text)) return { kind: 'help' };
  return looksLikeQuestion(text) || namesService(text, earlier) ? { kind: 'investigation' } : { kind: 'help' };
}

const longestAboutEvidence = 80;

const show = String.raw`\b(?:show|list|give|see|find|print)\s+(?:me\s+)?(?:(?:the|all|some|any|its|their|those|these|your|of|worst|slow|slowest|failing|failed|error|relevant|example)\s+)*`;
const bare = String.raw`^(?:and\s+)?(?:the\s+)?`;
const end = String.raw`(?:\s+please)?\W*$`;
const showing = {
  traces: new RegExp(`${bare}traces?${end}|\\b(?:show|list|give|see|which|find)\\b[^.?!]{0,40}\\btraces?\\b`, 'i'),
  logs: new RegExp(`${bare}logs?${end}|${show}logs?\\b|${show}log lines?\\b`, 'i'),
  queries: new RegExp(
    `${bare}(?:sql|quer(?:y|ies))${end}|${show}(?:sql|quer(?:y|ies))\\b|\\bwhat (?:sql|quer(?:y|ies)) did you\\b`,
    'i',
  ),
};

const doubts = [
  /^(?:(?:but|and|so)\s+)?why(?:\s+(?:is that|so|that|do you (?:think|say) (?:so|that|this)))?\W*$/i,
  /^(?:how do you know|how come|explain|are you (?:really )?sure|really|prove it|show (?:me )?(?:the |your )?evidence)\b[^.!?]{0,40}\W*$/i,
  /\bwhat (?:makes you (?:think|say)|is (?:the|your) evidence)\b/i,
];

/** `why?`, or `why payment?` where payment is what was named. */
function asksForReasons(text: string, { conclusion: { service } }: EarlierInvestigation): boolean {
  const named = /^(?:(?:but|and|so)\s+)?why\s+[`'"]?([^\s`'"?]+)[`'"]?\s*\?*$/i.exec(text)?.[1];
  return (
    doubts.some((doubt) => doubt.test(text)) || (named !== undefined && named.toLowerCase() === service.toLowerCase())
  );
}

const questions = [
  /\?\s*$/,
  /(?:^|[.!,;]\s*)(?:(?:and|but|so|or|ok(?:ay)?|hm+)[,\s]+)*(?:why|what|which|who|where|when|how|is|are|was|were|did|does|do|has|have|can|could)\b/i,
  /\b(?:only|just|again|check|look|investigate|analy[sz]e|find|search|compare[d]?|focus|try|retry)\b/i,
  /\b(?:wrong|fail\w*|errors?|slow\w*|broken?|breaks?|down|latenc\w+|time-?outs?|crash\w*|spikes?|all services|everything)\b/i,
  /\b(?:since|before|after|earlier|later|yesterday|today|now|ago|last|past|between|around|at \d|from \d|hours?|minutes?)\b/i,
];

function looksLikeQuestion(text: string): boolean {
  return questions.some((form) => form.test(text));
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
