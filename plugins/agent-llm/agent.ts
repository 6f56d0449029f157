import { code, SightlineError } from '../../src/contract/core/index.ts';
import type { Agent, AgentEvent, AgentHost, Assignment } from '../../src/contract/agent/index.ts';
import type { Conclusion } from '../../src/contract/storage/index.ts';
import { runBaseline, withoutReplies, type BaselineEnd, createJournal, type Doing } from './journal.ts';
import type { Limits } from './config.ts';
import type { LlmClient } from './client/client.ts';
import type { CheckedClient } from './client/health.ts';
import { type Budget, converse, createBudget, type Outcome } from './converse.ts';
import type { Offer, Servers } from './mcp/servers.ts';
import { plain } from './plain.ts';
import { opening, systemPrompt } from './prompt.ts';
import { writeAnswer, writeReply, writeDocument, validate } from './report/validate.ts';
import type { Desk } from './tools/tool.ts';

export interface LlmAgentParts {
  readonly client: CheckedClient;
  readonly host: AgentHost;
  readonly limits: Limits;
  /** Other MCP servers. */
  readonly servers: Servers;
}

/** An investigator with a model: it begins with what the playbook found, and falls back on that when the model fails. */
export function createLlmAgent({ client, host, limits, servers }: LlmAgentParts): Agent {
  const { baseline } = host;
  if (baseline === undefined) {
    throw new SightlineError(
      'plugin_failed',
      'The agent llm needs the playbook beneath it, which this host does not give.',
    );
  }
  let started = false;
  return {
    engine: `llm:${client.describe().model}`.slice(0, 60),
    async start(signal) {
      signal.throwIfAborted();
      started = true;
    },
    async stop() {
      started = false;
    },
    async health() {
      if (!started) return { ok: false, detail: 'not started' };
      const problems = await Promise.all([client.problem(), servers.problem()]);
      const detail = problems.filter((problem) => problem !== undefined).join(' ');
      // Without the model the playbook answers, and all else is served: requests may go on coming here.
      return detail === '' ? { ok: true } : { ok: true, degraded: true, detail };
    },
    investigate: (assignment, signal) => investigate({ client, host, limits, servers, baseline }, assignment, signal),
  };
}

async function* investigate(
  { client, host, limits, servers, baseline }: LlmAgentParts & { readonly baseline: Agent },
  assignment: Assignment,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent> {
  const journal = createJournal(host, assignment);
  const desk = { assignment, host, baseline, journal, signal };
  // The playbook's time counts, too: where the telemetry is slow, its conclusion is there before the core ends the run.
  const budget = createBudget(limits);
  try {
    const found = yield* runBaseline(baseline, withoutReplies(assignment), journal, signal);
    // What was found before answers it already: nothing is left to look for.
    if (found?.type === 'answer' && found.unanswered !== true) return yield found;
    const offer = await servers.offer(assignment.organizationId, AbortSignal.any([signal, budget.signal])).catch(() => {
      signal.throwIfAborted();
      return { tools: [], missing: [] };
    });
    const outcome = yield* withModel({ client, host, limits }, offer, desk, budget, found);
    yield* conclude(outcome, desk, client, offer.missing, found);
  } finally {
    budget.close();
  }
}

async function* withModel(
  { client, host, limits }: Omit<LlmAgentParts, 'servers'>,
  offer: Offer,
  desk: Desk,
  budget: Budget,
  found: BaselineEnd | undefined,
): Doing<Outcome> {
  const { assignment, journal, signal } = desk;
  try {
    return yield* converse({
      client,
      desk: { ...desk, signal: AbortSignal.any([signal, budget.signal]) },
      budget,
      tools: offer.tools,
      system: systemPrompt(desk, limits),
      opening: [opening(assignment, journal.steps, found), ...offer.missing].join('\n\n'),
      ending: found?.type === 'answer' ? 'answer' : 'submit_conclusion',
      logger: host.logger,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    if (budget.signal.aborted) return { end: 'gave_up', why: 'used up its time before it came to a conclusion' };
    // What the playbook found is there: nothing that a model does, or meets on its way, may take it back.
    host.logger.warn({ error }, 'the work with the model was broken off; the playbook concludes');
    return { end: 'gave_up', why: 'was broken off by an unexpected error' };
  }
}

async function* conclude(
  outcome: Outcome,
  desk: Desk,
  client: LlmClient,
  missing: readonly string[],
  found: BaselineEnd | undefined,
): Doing<void> {
  switch (outcome.end) {
    case 'asked':
      yield { type: 'question', question: outcome.question };
      return;
    case 'gave_up':
      yield fallBack(outcome.why, found);
      return;
    case 'answered': {
      const { model, host } = client.describe();
      yield writeReply(outcome.reply, desk, [`Answered by the model ${code(model)} at ${code(host)}.`, ...missing]);
      return;
    }
    case 'submitted': {
      const { submission } = outcome;
      const conclusion = yield* validate(submission, desk);
      const { model, host } = client.describe();
      const findings = {
        conclusion,
        nextSteps: submission.next_steps.map((text) => plain(text, 500)),
        steps: desk.journal.steps,
        notes: [
          `Concluded by the model ${code(model)} at ${code(host)}.`,
          besides(conclusion.service, found),
          ...missing,
        ],
      };
      yield {
        type: 'conclusion',
        answer: writeAnswer(findings),
        conclusion: { ...conclusion, ...measured(conclusion.service, found) },
        ...(desk.assignment.incident && {
          document: writeDocument(findings, found?.type === 'conclusion' ? found.conclusion.root_cause : ''),
        }),
      };
    }
  }
}

/** When it began and how it went, as the playbook counted it of the same service. */
function measured(service: string, found: BaselineEnd | undefined): Pick<Conclusion, 'onset' | 'trend'> {
  if (found?.type !== 'conclusion' || found.conclusion.service !== service) return {};
  const { onset, trend } = found.conclusion;
  return { ...(onset !== undefined && { onset }), ...(trend && { trend }) };
}

/** A model is open to prompt injection, the playbook is not. The answer says where they differ. */
function besides(service: string, found: BaselineEnd | undefined): string {
  if (found?.type !== 'conclusion') return 'The playbook, which uses no model, came to no conclusion.';
  const { service: named, confidence } = found.conclusion;
  if (named === '') return 'The playbook, which uses no model, names no cause.';
  if (named === service) return 'The playbook, which uses no model, names the same service.';
  return `The playbook, which uses no model, names ${code(named, 100)} instead (${confidence} confidence).`;
}

function fallBack(why: string, found: BaselineEnd | undefined): AgentEvent {
  if (found === undefined)
    throw new SightlineError('unavailable', `The model ${why}, and the playbook came to no conclusion.`);
  if (found.type === 'question') return found;
  if (found.type === 'answer') return { ...found, answer: `_The model ${why}._\n\n${found.answer}` };
  const said = `_The model ${why}. What follows is the playbook's conclusion, made without a model._`;
  const { conclusion, answer, document } = found;
  return {
    ...found,
    answer: `${said}\n\n${answer}`,
    conclusion: {
      ...conclusion,
      not_checked: [...(conclusion.not_checked ?? []), 'what a model would have looked at'],
    },
    ...(document !== undefined && { document: `${said}\n\n${document}` }),
  };
}
