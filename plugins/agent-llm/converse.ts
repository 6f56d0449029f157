import type { Logger } from '../../src/contract/core/index.ts';
import {
  LlmFailure,
  type LlmClient,
  type LlmReply,
  type ToolCall,
  type ToolResult,
  type Turn,
} from './client/client.ts';
import type { Budget } from './budget.ts';
import type { Doing } from './journal.ts';
import { askHuman, makePlan } from './tools/deciding.ts';
import { submitConclusion, type Submission } from './tools/submit-conclusion.ts';
import type { Desk, Tool } from './tools/tool.ts';
import { describeTable, listServices, lookCloser, queryOtel, traceTree } from './tools/looking.ts';

/** What a model may look with. Those that end the investigation are the loop's own. */
const lookingTools: readonly Tool[] = [makePlan, queryOtel, describeTable, listServices, traceTree, lookCloser];

export type Outcome =
  | { readonly end: 'submitted'; readonly submission: Submission }
  | { readonly end: 'asked'; readonly question: string }
  /** Why there is nothing from the model: a sentence without its beginning, "the model …". */
  | { readonly end: 'gave_up'; readonly why: string };

export interface Conversation {
  readonly client: LlmClient;
  readonly desk: Desk;
  readonly budget: Budget;
  readonly system: string;
  readonly opening: string;
  readonly logger: Logger;
}

const specs = [...lookingTools.map(({ spec }) => spec), askHuman.spec, submitConclusion.spec];
/** A submission that is none, or a turn without a call; after that the model is not asked again. */
const mostRejections = 2;
/** Of one turn; the rest is not run. */
const mostCallsAtOnce = 8;

/**
 * Talks with the model until it submits, asks, or cannot go on. Its budget is counted here; when it ends, the model may
 * only conclude. Rejects only when the investigation itself is ended.
 */
export async function* converse(conversation: Conversation): Doing<Outcome> {
  const { client, desk, budget, system, logger } = conversation;
  const turns: Turn[] = [{ role: 'user', text: conversation.opening }];
  const state = { planned: false, rejections: 0 };
  while (state.rejections <= mostRejections) {
    const size = system.length + JSON.stringify([specs, turns]).length;
    const maxOutputTokens = budget.outputFor(size);
    if (maxOutputTokens === undefined)
      return { end: 'gave_up', why: 'used up its tokens before it came to a conclusion' };
    const last = budget.ending(size);
    let reply: LlmReply;
    try {
      const forced = last && { mustCall: submitConclusion.spec.name };
      reply = await client.generate({ system, turns, tools: specs, maxOutputTokens, ...forced }, desk.signal);
    } catch (error) {
      if (!(error instanceof LlmFailure)) throw error;
      logger.warn({ problem: error.message }, 'the model could not be asked; the playbook concludes');
      return { end: 'gave_up', why: `could not be asked: ${error.message}` };
    }
    budget.count(reply, size);
    if (reply.end === 'refused') return { end: 'gave_up', why: 'declined to answer' };
    turns.push({ role: 'model', reply });
    if (reply.calls.length === 0) {
      state.rejections += 1;
      turns.push({ role: 'user', text: 'Call a tool. To end, call submit_conclusion.' });
      continue;
    }
    const results: ToolResult[] = [];
    for (const [index, call] of reply.calls.entries()) {
      const answered = yield* answer(call, { desk, budget, state, last, reply, tooMany: index >= mostCallsAtOnce });
      if ('end' in answered) return answered;
      results.push(answered);
    }
    turns.push({ role: 'results', results });
  }
  return { end: 'gave_up', why: 'did not submit a conclusion that can be used' };
}

async function* answer(
  call: ToolCall,
  turn: Pick<Conversation, 'desk' | 'budget'> & {
    readonly state: { planned: boolean; rejections: number };
    readonly last: boolean;
    readonly tooMany: boolean;
    readonly reply: LlmReply;
  },
): Doing<ToolResult | Outcome> {
  const { desk, budget, state, last, tooMany, reply } = turn;
  const say = (text: string, failed = true): ToolResult => ({ callId: call.id, text, failed });
  if (call.name === submitConclusion.spec.name) {
    const read = submitConclusion.read(call.input);
    if ('input' in read) return { end: 'submitted', submission: read.input };
    state.rejections += 1;
    return say(`${read.problem}${reply.end === 'cut' ? ' (it was cut: be shorter)' : ''}`);
  }
  if (last) {
    state.rejections += 1;
    return say('The budget is used up. Call submit_conclusion now, with what is there.');
  }
  if (tooMany) return say('Too many calls at once: this one was not run.');
  if (!budget.takeCall()) return say('There are no calls left. Call submit_conclusion.');
  if (call.name === askHuman.spec.name) {
    const read = askHuman.read(call.input, desk.assignment);
    return 'question' in read ? { end: 'asked', question: read.question } : say(read.problem);
  }
  const tool = lookingTools.find(({ spec }) => spec.name === call.name);
  if (tool === undefined) return say(`There is no such tool. There are: ${specs.map(({ name }) => name).join(', ')}.`);
  if (!state.planned && call.name !== 'make_plan') return say('Call make_plan first.');
  if (desk.journal.full) return say('The record is full. Call submit_conclusion.');
  const { text, failed = false } = yield* tool.call(call.input, desk);
  if (!failed && call.name === 'make_plan') state.planned = true;
  return say(text, failed);
}
