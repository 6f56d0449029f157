import type { Conclusion, Incident, WaitingOn, Investigation, Workspace } from '../../contract/storage/index.ts';
import { boundSentence } from './bounds.ts';
import type { EarlierInvestigation } from '../../contract/agent/index.ts';
import type { IncidentId } from '../../contract/core/index.ts';

const most = 5;

/**
 * What was found before this investigation: in its chat, and then about its incident, the newest first. A resumed run is
 * given the same, since what ended meanwhile was asked for later.
 */
export async function earlierInvestigations(
  investigation: Investigation,
  incidentId: IncidentId | undefined,
  { investigations }: Workspace,
): Promise<readonly EarlierInvestigation[]> {
  const { chatId, id } = investigation;
  const inChat = chatId === undefined ? [] : await investigations.ofChat(chatId);
  const ofIncident = incidentId === undefined ? [] : await investigations.ofIncident(incidentId);
  const known = new Set(inChat.map((each) => each.id));
  const before = [...olderThan(inChat, id), ...olderThan(ofIncident, id).filter((each) => !known.has(each.id))];
  const concluded = before.flatMap(({ conclusion, ...rest }) => (conclusion ? [{ ...rest, conclusion }] : []));
  return Promise.all(
    concluded.slice(0, most).map(async (each) => ({
      askedAt: each.askedAt,
      conclusion: each.conclusion,
      steps: await investigations.steps(each.id),
    })),
  );
}

function olderThan(newestFirst: readonly Investigation[], id: Investigation['id']): readonly Investigation[] {
  return newestFirst.slice(newestFirst.findIndex((each) => each.id === id) + 1);
}

/** How one investigation of an incident stands. */
export type Work =
  | { readonly status: 'queued' | 'running' | 'failed' | 'cancelled' }
  /** `asked`: the person in whose chat it asked. */
  | { readonly status: 'waiting'; readonly question: string; readonly asked?: string | undefined }
  /** Without a conclusion it answered from what was found before. */
  | { readonly status: 'completed'; readonly conclusion?: Conclusion | undefined };

/**
 * Who an open incident waits on, by the investigations behind it, the newest first:
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
