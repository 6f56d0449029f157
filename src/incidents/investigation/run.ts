import { code, shortened, SightlineError, type Host } from '../../contract/core/index.ts';
import { heldTo, type Agent, type AgentEvent, type Assignment } from '../../contract/agent/index.ts';
import {
  findingOf,
  howItEnded,
  precedents,
  type Actor,
  type ChatMessage,
  type Conclusion,
  type Investigation,
  type InvestigationResult,
  type InvestigationStep,
  type MessagePart,
  type Workspace,
} from '../../contract/storage/index.ts';
import { boundAnswer, boundConclusion, boundParts, boundSentence, boundStep, budget } from './bounds.ts';
import { beforeInvestigation, type Work } from './waiting.ts';
import { askedIn, followIncident } from './incident.ts';

/** Messages of a chat that an agent is given, counted from the end. */
const messagesGiven = 200;

interface RunDependencies extends Pick<Host, 'logger' | 'now'> {
  readonly workspace: Workspace;
  readonly agent: Agent;
  /** Aborted when the lease is lost, the budget is spent or the worker stops. */
  readonly signal: AbortSignal;
  /** Under whose lease it runs: without that nothing is kept. */
  readonly holder: string;
  /** Whether this worker still holds the investigation; asked before anything final is written. */
  readonly held: () => Promise<boolean>;
}

/** Says that a run has used up its steps or its wall time. */
export class BudgetSpent extends Error {}

/** Another worker has the investigation, or it was cancelled: the rest of this run is discarded. */
export class LeaseLost extends Error {}

/** Says that the storage failed: not the agent's failure, so the run is tried again. */
class StorageFailed extends Error {}

/**
 * Runs one investigation to its end. Each step is stored before the agent goes on, so a run that ends in between leaves
 * all it has found, and the next run is given it. Rejects with the signal's reason when it was aborted, unless that is the
 * budget, which ends the investigation. Resolves with how it ended, or undefined where another worker has it.
 */
export async function runInvestigation(
  investigation: Investigation,
  deps: RunDependencies,
): Promise<Outcome['status'] | undefined> {
  const { workspace, agent, logger } = deps;
  const author: Actor = { kind: 'agent', id: agent.engine, name: agent.engine };
  const assignment = await prepare(investigation, workspace);
  const incident = assignment.incident && followIncident(workspace, assignment.incident.id, author, logger);
  const { id } = investigation;
  await incident?.follow({ id, work: { status: 'running' } });

  let closing: Closing;
  try {
    closing = await listen(investigation, assignment, deps);
  } catch (error) {
    if (deps.signal.aborted && !(deps.signal.reason instanceof BudgetSpent)) throw deps.signal.reason;
    if (error instanceof StorageFailed || error instanceof LeaseLost) throw error;
    logger.warn({ investigation: investigation.id, error }, 'investigation failed');
    closing = failure(error);
  }
  if (!(await deps.held())) return undefined;
  closing = await withPrecedents(closing, assignment, workspace);
  const own = { id, work: await workOf(closing, investigation, workspace) };
  if (closing.document !== undefined) await incident?.writeDocument(closing.document, own, deps.holder);
  await incident?.follow(own);
  const steps = await workspace.investigations.steps(investigation.id);
  try {
    await workspace.investigations.finish(investigation.id, resultOf(closing, author, steps), deps.holder);
  } catch (error) {
    if (!isConflict(error)) throw error;
    await incident?.follow();
    throw leaseLost(error);
  }
  // Another may have ended at the same moment, and each have seen the other still at work.
  await incident?.follow();
  const { status } = closing.outcome;
  logger.info({ investigation: investigation.id, status }, 'investigation ended');
  return status;
}

function isConflict(error: unknown): boolean {
  return error instanceof SightlineError && error.code === 'conflict';
}

function leaseLost(cause: unknown): LeaseLost {
  return new LeaseLost('the lease was lost', { cause });
}

type Outcome =
  | { readonly status: 'completed'; readonly conclusion?: Conclusion }
  | { readonly status: 'waiting'; readonly question: string }
  | { readonly status: 'failed' };

interface Closing {
  readonly outcome: Outcome;
  readonly message: string;
  readonly parts?: readonly MessagePart[];
  readonly document?: string;
  readonly failure?: string;
}

/** Adds incidents like this one before, and how they ended, to the answer and to the document. */
async function withPrecedents(closing: Closing, { incident }: Assignment, { incidents }: Workspace): Promise<Closing> {
  const { outcome, document } = closing;
  const conclusion = outcome.status === 'completed' ? outcome.conclusion : undefined;
  const found = await precedents(incidents, conclusion && findingOf(conclusion), incident);
  if (found.length === 0) return closing;
  const lines = found.map(
    (one) =>
      `- ${one.key} ${code(one.title, 80)}: ${shortened(one.finding.root_cause.replace(/\.?$/, '.'), 200)} ${howItEnded(one)}`,
  );
  const told = lines.join('\n');
  return {
    ...closing,
    message: boundAnswer(`${closing.message}\n\nLike this before:\n${told}`),
    ...(document !== undefined && { document: `${document.trimEnd()}\n\n## Like this before\n\n${told}\n` }),
  };
}

async function workOf({ outcome }: Closing, { chatId }: Investigation, workspace: Workspace): Promise<Work> {
  return outcome.status === 'waiting' ? { ...outcome, asked: await askedIn(chatId, workspace) } : outcome;
}

async function prepare(investigation: Investigation, workspace: Workspace): Promise<Assignment> {
  const steps = await workspace.investigations.steps(investigation.id);
  const chat = investigation.chatId && (await workspace.chats.get(investigation.chatId));
  const incidentId = investigation.incidentId ?? chat?.incidentId;
  const incident = incidentId && (await workspace.incidents.get(incidentId));
  return {
    organizationId: investigation.organizationId,
    messages: await messagesOf(investigation, workspace),
    steps,
    ...(await beforeInvestigation(investigation, incidentId, steps, workspace)),
    askedAt: investigation.askedAt,
    ...(incident && { incident }),
  };
}

/** What was said after this run began is a question of its own, queued behind it: not part of what a resumed run is asked. */
async function messagesOf(investigation: Investigation, workspace: Workspace): Promise<readonly ChatMessage[]> {
  const chat = investigation.chatId && (await workspace.chats.get(investigation.chatId));
  if (!chat) return [];
  const messages = await workspace.chats.messages(chat.id, {
    afterSeq: Math.max(0, chat.lastSeq - messagesGiven),
    limit: messagesGiven,
  });
  const queued = (await workspace.investigations.ofChat(chat.id)).find(({ status }) => status === 'queued');
  return queued === undefined ? messages : messages.filter(({ time }) => time < queued.askedAt);
}

async function listen(investigation: Investigation, assignment: Assignment, deps: RunDependencies): Promise<Closing> {
  const { agent, workspace, signal, logger, now, holder } = deps;
  let seq = assignment.steps.at(-1)?.seq ?? 0;
  const events = agent.investigate(assignment, signal)[Symbol.asyncIterator]();
  const aborted = rejectWhenAborted(signal);
  try {
    for (;;) {
      const { done, value } = await Promise.race([events.next(), aborted.promise]);
      if (done === true) throw new SightlineError('internal', 'The agent ended without an answer.');
      const event: AgentEvent = value;
      if (event.type === 'step') {
        seq += 1;
        if (seq > budget.steps) throw new BudgetSpent();
        const step = boundStep(event.step, { seq, after: assignment.evidenceAfter ?? 0, recordedAt: now() });
        await workspace.investigations.addStep(investigation.id, step, holder).catch((cause: unknown) => {
          throw isConflict(cause) ? leaseLost(cause) : new StorageFailed('a step could not be stored', { cause });
        });
      } else if (event.type === 'progress') {
        await workspace.investigations
          .progress(investigation.id, boundSentence(event.message))
          .catch((error: unknown) => {
            logger.debug({ investigation: investigation.id, error }, 'progress could not be told');
          });
      } else if (event.type === 'question') {
        return { outcome: { status: 'waiting', question: event.question }, message: boundAnswer(event.question) };
      } else if (event.type === 'answer') {
        const parts = boundParts(event.parts ?? []);
        return { outcome: { status: 'completed' }, message: boundAnswer(event.answer), parts };
      } else {
        const steps = await workspace.investigations.steps(investigation.id).catch((cause: unknown) => {
          throw new StorageFailed('the steps could not be read', { cause });
        });
        const conclusion = heldTo(boundConclusion(event.conclusion), steps);
        return {
          outcome: { status: 'completed', conclusion },
          message: boundAnswer(event.answer),
          ...(event.document !== undefined && { document: event.document }),
        };
      }
    }
  } finally {
    aborted.forget();
    // Not awaited: an agent that does not listen to its signal must not hold up the worker.
    void events.return?.()?.then(undefined, () => {});
  }
}

function rejectWhenAborted(signal: AbortSignal): { readonly promise: Promise<never>; forget(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  promise.catch(() => {});
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return { promise, forget: () => signal.removeEventListener('abort', abort) };
}

function failure(error: unknown): Closing {
  const sentence = sentenceOf(error);
  return { outcome: { status: 'failed' }, failure: sentence, message: `The investigation failed. ${sentence}` };
}

/** Only words that we wrote ourselves: an engine's or a plugin's own message may carry other people's data. */
function sentenceOf(error: unknown): string {
  if (error instanceof BudgetSpent) {
    return `It used up its budget of ${budget.steps} steps or ${budget.wallMs / 60_000} minutes. Ask again with a narrower question.`;
  }
  if (error instanceof SightlineError)
    return error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
  return 'The agent met an unexpected error; the log of the gateway has the details.';
}

function resultOf(
  { outcome, message, parts, failure: sentence }: Closing,
  author: Actor,
  steps: readonly InvestigationStep[],
): InvestigationResult {
  switch (outcome.status) {
    case 'completed':
      return {
        status: 'completed',
        ...(outcome.conclusion && { conclusion: outcome.conclusion }),
        message,
        author,
        parts: outcome.conclusion ? partsOf(outcome.conclusion, steps) : (parts ?? []),
      };
    case 'waiting':
      return { status: 'waiting', message, author, parts: [{ type: 'question', text: message }] };
    case 'failed':
      return { status: 'failed', failure: sentence ?? message, message, author };
  }
}

/** The most queries that come with an answer. */
const queriesShown = 6;

/** The supported claims and the queries behind them, so that readers can rerun these. */
function partsOf({ claims }: Conclusion, steps: readonly InvestigationStep[]): readonly MessagePart[] {
  const supported = claims.filter(({ status }) => status === 'supported');
  const cited = new Set(supported.flatMap((claim) => claim.evidence_ids));
  return [
    ...supported.flatMap(({ text, evidence_ids: [evidence] }) =>
      evidence === undefined ? [] : [{ type: 'finding' as const, evidence_id: evidence, text }],
    ),
    ...steps
      .filter(({ evidence_id: id, dialect }) => cited.has(id) && dialect !== 'mcp')
      .slice(0, queriesShown)
      .map((step) => ({ type: 'query' as const, evidence_id: step.evidence_id, sql: step.sql })),
  ];
}
