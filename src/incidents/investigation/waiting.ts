import type {
  Conclusion,
  Incident,
  InvestigationStep,
  WaitingOn,
  Investigation,
  Workspace,
} from '../../contract/storage/index.ts';
import { boundSentence, budget } from './bounds.ts';
import type { Assignment, EarlierInvestigation } from '../../contract/agent/index.ts';
import type { IncidentId } from '../../contract/core/index.ts';

const mostGiven = 5;
const answersRead = 20;

/**
 * What was there before this investigation. A resumed run is given the same, since what ended meanwhile was asked for later.
 * `own` are the steps that it has taken.
 */
export async function beforeInvestigation(
  investigation: Investigation,
  incidentId: IncidentId | undefined,
  own: readonly InvestigationStep[],
  { investigations }: Workspace,
): Promise<Required<Pick<Assignment, 'earlier' | 'evidenceAfter'>>> {
  const { chatId, id } = investigation;
  const inChat = olderThan(chatId === undefined ? [] : await investigations.ofChat(chatId), id);
  const ofIncident = olderThan(incidentId === undefined ? [] : await investigations.ofIncident(incidentId), id);
  const known = new Set(inChat.map((each) => each.id));
  const before = [...inChat, ...ofIncident.filter((each) => !known.has(each.id))];
  return {
    evidenceAfter: await lastEvidence(own, incidentId === undefined ? inChat : ofIncident, investigations),
    earlier: await concludedIn(before, investigations),
  };
}

/** The newest that came to a conclusion, each with the evidence of what was answered from it since: people ask for that. */
async function concludedIn(
  newestFirst: readonly Investigation[],
  investigations: Workspace['investigations'],
): Promise<readonly EarlierInvestigation[]> {
  const found: EarlierInvestigation[] = [];
  const answered: InvestigationStep[] = [];
  for (const [index, { id, askedAt, status, conclusion }] of newestFirst.entries()) {
    if (found.length === mostGiven) break;
    const isAnswer = status === 'completed' && index < answersRead;
    if (conclusion === undefined && !isAnswer) continue;
    const steps = await investigations.steps(id);
    if (conclusion === undefined) answered.push(...steps);
    else found.push({ askedAt, conclusion, steps: [...answered.splice(0), ...steps] });
  }
  return found;
}

function olderThan(newestFirst: readonly Investigation[], id: Investigation['id']): readonly Investigation[] {
  return newestFirst.slice(newestFirst.findIndex((each) => each.id === id) + 1);
}

/**
 * The number from which a run counts its evidence on: an id stands once in an incident, or in a chat about none. One that has
 * not ended keeps as many numbers as it may have steps.
 */
async function lastEvidence(
  own: readonly InvestigationStep[],
  newestFirst: readonly Investigation[],
  investigations: Workspace['investigations'],
): Promise<number> {
  const [first] = own;
  if (first !== undefined) return offsetOf(first);
  let reserved = 0;
  for (const { id, status } of newestFirst) {
    const hasEnded = status === 'completed' || status === 'failed' || status === 'cancelled';
    const steps = await investigations.steps(id);
    const [begin] = steps;
    // It counted on from all that are older.
    if (begin !== undefined) return reserved + offsetOf(begin) + (hasEnded ? steps.length : budget.steps);
    if (!hasEnded) reserved += budget.steps;
  }
  return reserved;
}

function offsetOf({ evidence_id: id, seq }: InvestigationStep): number {
  return Math.max(0, Number(/^E(\d{1,9})$/.exec(id)?.[1] ?? seq) - seq);
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
