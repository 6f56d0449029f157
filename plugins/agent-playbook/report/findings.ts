import type { Claim, Conclusion } from '../../../src/contract/storage/index.ts';
import type { Windows } from '../notebook.ts';
import type { Focus } from '../question/asks.ts';
import type { TimeRange } from '../question/time-range.ts';
import { code, names } from '../sql.ts';
import type { Scene } from '../scene.ts';
import { type Change, type Changes, placed } from '../steps/changes.ts';
import type { Suspect } from '../suspects.ts';

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

/** What was deployed or turned: facts, which blame nothing. Those of the service that is blamed stand by themselves. */
export function changed(
  { before, during }: Changes,
  began: Date | undefined,
  suspect?: Pick<Suspect, 'service' | 'category'>,
): readonly Claim[] {
  const what = suspect?.category === 'errors' ? 'the failures began' : 'it began';
  const told = (changes: readonly Change[], lead = ''): readonly Claim[] => {
    const list = changes.slice(0, 3);
    if (list.length === 0) return [];
    const ids = new Set(list.flatMap(({ evidenceIds }) => evidenceIds));
    return [claim(`${lead}${list.map((one) => placed(one, began, what)).join('; ')}`, [...ids])];
  };
  const own = before.filter(({ service }) => service === suspect?.service);
  const others = before.filter(({ service }) => service !== suspect?.service);
  return [
    ...own.slice(0, 2).flatMap((change) => told([change])),
    ...told(others, 'Elsewhere: '),
    ...told(during, 'Around that time: '),
  ];
}

/** What came after the beginning did not bring it about. */
export function tooLate({ after }: Changes, began: Date | undefined): readonly string[] {
  return after
    .slice(0, 3)
    .map((change) => `As its cause: ${placed(change, began, 'it began')} [${change.evidenceIds.join(', ')}].`);
}

/** The latest change of the service that is blamed can be taken back. */
export function undo({ before }: Changes, service: string): readonly string[] {
  const change = before.find((one) => one.service === service && one.status !== 'failed');
  if (change === undefined) return [];
  const { kind, version, flag, url } = change;
  const see = url === '' ? '' : `: ${code(url, 200)}`;
  if (kind !== 'deploy') return [`Turn the flag ${code(flag, 100)} back, and see whether it ends${see}.`];
  const release = `${code(service, 60)}${version === '' ? '' : ` ${code(version, 60)}`}`;
  return [`Roll back ${release}, or compare it with the version before${see}.`];
}
