import type { Conclusion, Incident, WaitingOn } from '../../contract/storage/index.ts';
import { boundSentence } from './bounds.ts';

/** How one investigation of an incident stands. */
export type Work =
  | { readonly status: 'queued' | 'running' | 'failed' | 'cancelled' }
  /** `asked`: the person in whose chat it asked. */
  | { readonly status: 'waiting'; readonly question: string; readonly asked?: string | undefined }
  /** Without a conclusion it answered from what was found before. */
  | { readonly status: 'completed'; readonly conclusion?: Conclusion | undefined };

/**
 * Whom an open incident waits on, by the investigations behind it, the newest first:
 *
 * 1. on somebody outside for as long as a person has named them;
 * 2. on the agent while an investigation works on it, or is about to;
 * 3. on a person with the question that the agent asked: on who was asked, else on the assignee, else on anybody;
 * 4. on a person for a decision about what the newest investigation came to.
 *
 * One that is resolved or dismissed waits on nobody, which the storage sees to.
 */
export function waitsOn(
  incident: Pick<Incident, 'waitingOn' | 'assignee'>,
  works: readonly Work[],
): Omit<WaitingOn, 'since'> {
  if (incident.waitingOn.party === 'external') return incident.waitingOn;
  if (works.some(({ status }) => status === 'queued' || status === 'running')) {
    return { party: 'agent', reason: 'Investigating' };
  }
  const open = works.find((work) => work.status === 'waiting');
  if (open) return human(open.asked ?? incident.assignee, open.question);
  return human(incident.assignee, decision(works));
}

function human(name: string | undefined, reason: string): Omit<WaitingOn, 'since'> {
  return { party: 'human', ...(name !== undefined && { name }), reason: boundSentence(reason) };
}

function decision(works: readonly Work[]): string {
  const telling = works.find(
    ({ status, ...work }) => status === 'failed' || ('conclusion' in work && work.conclusion !== undefined),
  );
  if (telling?.status === 'failed') return 'The investigation failed: decide whether to ask again';
  if (telling?.status === 'completed') {
    return telling.conclusion?.confidence === 'none'
      ? 'Nothing was found: decide whether to close it'
      : 'Review the findings and decide on the next step';
  }
  return works.some(({ status }) => status === 'cancelled')
    ? 'The investigation was cancelled: decide on the next step'
    : 'Decide on the next step';
}
