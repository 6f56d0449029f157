import { SightlineError } from '../contract/index.ts';
import type {
  Actor,
  Agent,
  AgentEvent,
  Assignment,
  ChatMessage,
  Conclusion,
  Investigation,
  InvestigationResult,
  InvestigationStep,
  Logger,
  MessagePart,
  Workspace,
} from '../contract/index.ts';
import { boundAnswer, boundConclusion, boundStep, budget } from './bounds.ts';
import { followIncident } from './incident.ts';
import type { Outcome } from './incident.ts';

/** Messages of a chat that an agent is given, counted from the end. */
const messagesGiven = 200;

export interface RunDependencies {
  readonly workspace: Workspace;
  readonly agent: Agent;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Aborted when the lease is lost, the budget is spent or the worker stops. */
  readonly signal: AbortSignal;
  /** Whether this worker still holds the investigation; asked before anything final is written. */
  readonly held: () => Promise<boolean>;
}

/** Says that a run has used up its steps or its wall time. */
export class BudgetSpent extends Error {}

/** Says that a step could not be stored: not the agent's failure, so the run is tried again. */
class StepNotStored extends Error {}

/**
 * Runs one investigation to its end. Each step is stored before the agent goes on, so a run that ends in between leaves
 * all it has found, and the next run is given it. Rejects with the signal's reason when it was aborted, unless that is the
 * budget, which ends the investigation.
 */
export async function runInvestigation(investigation: Investigation, deps: RunDependencies): Promise<void> {
  const { workspace, agent, logger } = deps;
  const author: Actor = { kind: 'agent', id: agent.engine, name: agent.engine };
  const assignment = await prepare(investigation, workspace);
  const incident = assignment.incident && followIncident(workspace, assignment.incident.id, author, logger);
  await incident?.begin();

  let closing: Closing;
  try {
    closing = await listen(investigation, assignment, deps);
  } catch (error) {
    if (deps.signal.aborted && !(deps.signal.reason instanceof BudgetSpent)) throw deps.signal.reason;
    if (error instanceof StepNotStored) throw error;
    logger.warn({ investigation: investigation.id, error }, 'investigation failed');
    closing = failure(error);
  }
  if (!(await deps.held())) return;
  if (closing.document !== undefined) await incident?.writeDocument(closing.document);
  await incident?.end(closing.outcome);
  const steps = await workspace.investigations.steps(investigation.id);
  await workspace.investigations.finish(investigation.id, resultOf(closing, author, steps));
  logger.info({ investigation: investigation.id, status: closing.outcome.status }, 'investigation ended');
}

interface Closing {
  readonly outcome: Outcome;
  readonly message: string;
  readonly document?: string;
  readonly failure?: string;
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
  const { agent, workspace, signal, logger, now } = deps;
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
        const step = boundStep(event.step, seq, now());
        await workspace.investigations.addStep(investigation.id, step).catch((cause: unknown) => {
          throw new StepNotStored('a step could not be stored', { cause });
        });
      } else if (event.type === 'progress') {
        logger.debug({ investigation: investigation.id, doing: event.message }, 'investigation goes on');
      } else if (event.type === 'question') {
        return { outcome: { status: 'waiting', question: event.question }, message: boundAnswer(event.question) };
      } else {
        const conclusion = boundConclusion(event.conclusion);
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
  { outcome, message, failure: sentence }: Closing,
  author: Actor,
  steps: readonly InvestigationStep[],
): InvestigationResult {
  switch (outcome.status) {
    case 'completed':
      return {
        status: 'completed',
        conclusion: outcome.conclusion,
        message,
        author,
        parts: partsOf(outcome.conclusion, steps),
      };
    case 'waiting':
      return { status: 'waiting', message, author, parts: [{ type: 'question', text: message }] };
    case 'failed':
      return { status: 'failed', failure: sentence ?? message, message, author };
  }
}

/** The most queries that come with an answer. */
const queriesShown = 6;

/** The supported claims, and the queries that they rest on, so that whoever reads the answer can run them again. */
function partsOf({ claims }: Conclusion, steps: readonly InvestigationStep[]): readonly MessagePart[] {
  const supported = claims.filter(({ status }) => status === 'supported');
  const cited = new Set(supported.flatMap((claim) => claim.evidence_ids));
  return [
    ...supported.flatMap(({ text, evidence_ids: [evidence] }) =>
      evidence === undefined ? [] : [{ type: 'finding' as const, evidence_id: evidence, text }],
    ),
    ...steps
      .filter((step) => cited.has(step.evidence_id))
      .slice(0, queriesShown)
      .map((step) => ({ type: 'query' as const, evidence_id: step.evidence_id, sql: step.sql })),
  ];
}
