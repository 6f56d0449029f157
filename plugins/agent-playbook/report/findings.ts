import type { Claim, Conclusion } from '../../../src/contract/storage/index.ts';
import type { Windows } from '../notebook.ts';
import type { Focus } from '../question/asks.ts';
import type { TimeRange } from '../question/time-range.ts';
import { names } from '../sql.ts';
import type { Scene } from '../scene.ts';
import type { Changes } from '../steps/changes.ts';

/** How a follow-up was understood: "Looking at `checkout`, 14:00-14:30 UTC, compared with 13:00-13:30 UTC." */
export function readingLine(focus: Focus, { now, references }: Windows, today: Date): string {
  const services = focus.services.slice(0, 3);
  const more = focus.services.length > services.length ? ` and ${focus.services.length - services.length} more` : '';
  const who = services.length === 0 ? 'all services' : `${focus.only ? 'only ' : ''}${names(services)}${more}`;
  const compared =
    references.length === 0 ? '' : `, compared with ${references.map((one) => stretch(one, today)).join(' and ')}`;
  return `Looking at ${who}, ${stretch(now, today)}${compared}.`;
}

/** With the date where it is not today's. */
export function stretch({ start, end }: TimeRange, today: Date): string {
  const day = (time: Date): string => time.toISOString().slice(0, 10);
  const clock = (time: Date): string => time.toISOString().slice(11, 16);
  const from = day(start) === day(today) ? clock(start) : `${day(start)} ${clock(start)}`;
  const to = day(end) === day(start) ? clock(end) : `${day(end)} ${clock(end)}`;
  return `${from}-${to} UTC`;
}

/** One sentence, here without its full stop. */
export function claim(text: string, evidenceIds: readonly string[], status: Claim['status'] = 'supported'): Claim {
  return { text: /[.…]$/.test(text) ? text : `${text}.`, status, evidence_ids: evidenceIds };
}

/** Of a report that blames nothing. */
export const nothingFound = { impact: [], timeline: [], ruledOut: [], openQuestions: [] } as const;

/** What an investigation came to, before it is put into words for a chat or a document. */
export interface Report {
  readonly conclusion: Conclusion;
  /** One line: what is wrong, or that nothing is. */
  readonly headline: string;
  readonly windows: Windows | undefined;
  /** Who is affected, and how much. */
  readonly impact: readonly string[];
  readonly timeline: readonly { readonly at: Date; readonly what: string }[];
  readonly ruledOut: readonly string[];
  readonly nextSteps: readonly string[];
  readonly openQuestions: readonly string[];
  /** What the reader has to know about how it was looked at. */
  readonly notes: readonly string[];
}

/** What this playbook does not look at, said each time. */
export const neverChecked = ['deployments and feature flags beyond service.version'];

/** What senders do not tell is not known. */
export function notChecked({ notebook }: Pick<Scene, 'notebook'>, { told }: Pick<Changes, 'told'>): readonly string[] {
  return [...notebook.unanswered, ...(told ? [] : neverChecked)];
}
