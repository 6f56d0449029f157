import type { Logger } from '../../src/contract/core/index.ts';
import {
  type LlmClient,
  LlmFailure,
  type LlmReply,
  type LlmRequest,
  type ToolCall,
  type ToolResult,
  type ToolSpec,
  type Turn,
} from './client/client.ts';
import type { Limits } from './config.ts';
import type { Doing } from './journal.ts';
import {
  answer,
  readProse,
  type Reply,
  askHuman,
  makePlan,
  submitConclusion,
  type Submission,
} from './tools/endings.ts';
import type { Desk, Tool } from './tools/tool.ts';
import { describeTable, listServices, lookCloser, queryOtel, traceTree } from './tools/looking.ts';

/** What a model may look with, beside other MCP servers. Those that end the investigation are the loop's own. */
const lookingTools: readonly Tool[] = [makePlan, queryOtel, describeTable, listServices, traceTree, lookCloser];

export type Outcome =
  | { readonly end: 'submitted'; readonly submission: Submission }
  | { readonly end: 'answered'; readonly reply: Reply }
  | { readonly end: 'asked'; readonly question: string }
  /** Why there is nothing from the model: a sentence without its beginning, "the model …". */
  | { readonly end: 'gave_up'; readonly why: string };

export interface Conversation {
  readonly client: LlmClient;
  readonly desk: Desk;
  readonly budget: Budget;
  /** Of other MCP servers. */
  readonly tools: readonly Tool[];
  readonly system: string;
  readonly opening: string;
  /** Which tool ends it, where the model does not choose; `answer` is there only where a person asked. */
  readonly ending: 'answer' | 'submit_conclusion';
  readonly logger: Logger;
}

/** An ending that is none, or a turn without a call; after that the model is not asked again. */
const mostRejections = 2;
/** Of one turn; the rest is not run. */
const mostCallsAtOnce = 8;

/**
 * Talks with the model until it submits, answers, asks, or cannot go on. Its budget is counted here; when it is used up,
 * the model may only end. Rejects only when the investigation itself is ended.
 */
export async function* converse(conversation: Conversation): Doing<Outcome> {
  const { client, desk, budget, system, ending, logger } = conversation;
  const endings = desk.assignment.messages.length > 0 ? [answer, submitConclusion] : [submitConclusion];
  const tools = [...lookingTools, ...conversation.tools];
  const specs = [...tools, askHuman, ...endings].map(({ spec }) => spec);
  const turns: Turn[] = [{ role: 'user', text: conversation.opening }];
  const state = { planned: false, rejections: 0, forces: true, told: false };
  while (state.rejections <= mostRejections) {
    const size = system.length + JSON.stringify([specs, turns]).length;
    const maxOutputTokens = budget.outputFor(size);
    if (maxOutputTokens === undefined)
      return { end: 'gave_up', why: 'used up its tokens before it came to a conclusion' };
    const last = budget.ending(size);
    if (last && !state.told) {
      state.told = true;
      turns.push({ role: 'user', text: `The budget is used up. Call ${ending} now, with what is there.` });
    }
    const request = { system, turns, tools: specs, maxOutputTokens };
    let reply: LlmReply;
    try {
      reply = await (last && state.forces ? force(request) : client.generate(request, desk.signal));
    } catch (error) {
      if (!(error instanceof LlmFailure)) throw error;
      logger.warn({ problem: error.message }, 'the model could not be asked; the playbook concludes');
      return { end: 'gave_up', why: `could not be asked: ${error.message.replace(/\.$/, '')}` };
    }
    budget.count(reply, size);
    if (reply.end === 'refused') return { end: 'gave_up', why: 'declined to answer' };
    turns.push({ role: 'model', reply });
    if (reply.calls.length === 0) {
      const prose = ending === 'answer' && reply.end === 'done' ? readProse(reply.text) : undefined;
      if (prose !== undefined) return { end: 'answered', reply: prose };
      state.rejections += 1;
      turns.push({ role: 'user', text: `Call a tool. To end, call ${ending}.` });
      continue;
    }
    const results: ToolResult[] = [];
    for (const [index, call] of reply.calls.entries()) {
      const tooMany = index >= mostCallsAtOnce;
      const answered = yield* take(call, { desk, budget, tools, specs, ending, state, last, reply, tooMany });
      if ('end' in answered) return answered;
      results.push(answered);
    }
    turns.push({ role: 'results', results });
  }
  return { end: 'gave_up', why: 'did not submit a conclusion that can be used' };

  /** Models that think refuse to be told which tool to call: those are asked once more, and not told again. */
  async function force(request: LlmRequest): Promise<LlmReply> {
    try {
      return await client.generate({ ...request, mustCall: ending }, desk.signal);
    } catch (error) {
      if (!(error instanceof LlmFailure) || error.status === undefined || !refusals.has(error.status)) throw error;
      state.forces = false;
      return client.generate(request, desk.signal);
    }
  }
}

/** OpenRouter says 404 where no provider of the model takes a parameter. */
const refusals: ReadonlySet<number> = new Set([400, 404, 422]);

async function* take(
  call: ToolCall,
  turn: Pick<Conversation, 'desk' | 'budget' | 'tools' | 'ending'> & {
    readonly specs: readonly ToolSpec[];
    readonly state: { planned: boolean; rejections: number };
    readonly last: boolean;
    readonly tooMany: boolean;
    readonly reply: LlmReply;
  },
): Doing<ToolResult | Outcome> {
  const { desk, budget, tools, specs, ending, state, last, tooMany, reply } = turn;
  const say = (text: string, failed = true): ToolResult => ({ callId: call.id, text, failed });
  const isOffered = specs.some(({ name }) => name === call.name);
  if (isOffered && (call.name === 'submit_conclusion' || call.name === 'answer')) {
    const read = readEnding(call.name, call.input);
    if ('end' in read) return read;
    state.rejections += 1;
    return say(`${read.problem}${reply.end === 'cut' ? ' (it was cut: be shorter)' : ''}`);
  }
  if (last) {
    state.rejections += 1;
    return say(`The budget is used up. Call ${ending} now, with what is there.`);
  }
  if (tooMany) return say('Too many calls at once: this one was not run.');
  if (!budget.takeCall()) return say(`There are no calls left. Call ${ending}.`);
  if (call.name === askHuman.spec.name) {
    const read = askHuman.read(call.input, desk.assignment);
    return 'question' in read ? { end: 'asked', question: read.question } : say(read.problem);
  }
  const tool = tools.find(({ spec }) => spec.name === call.name);
  if (tool === undefined) return say(`There is no such tool. There are: ${specs.map(({ name }) => name).join(', ')}.`);
  if (!state.planned && call.name !== 'make_plan') return say('Call make_plan first.');
  if (desk.journal.full) return say(`The record is full. Call ${ending}.`);
  const { text, failed = false } = yield* tool.call(call.input, desk);
  if (!failed && call.name === 'make_plan') state.planned = true;
  return say(text, failed);
}

function readEnding(name: 'submit_conclusion' | 'answer', raw: unknown): Outcome | { readonly problem: string } {
  if (name === 'answer') {
    const read = answer.read(raw);
    return 'input' in read ? { end: 'answered', reply: read.input } : read;
  }
  const read = submitConclusion.read(raw);
  return 'input' in read ? { end: 'submitted', submission: read.input } : read;
}

/** What the model may use up, counted where it cannot reach. */
export interface Budget {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  /** Counts one call of a tool; false when there are none left. */
  takeCall(): boolean;
  /** What a request of so many characters may still write; undefined when it does not fit any more. */
  outputFor(characters: number): number | undefined;
  /** After a request of so many characters there is no room for another one: the model has to conclude now. */
  ending(characters: number): boolean;
  count(reply: LlmReply, characters: number): void;
  close(): void;
}

/** A third rather than the usual quarter, since SQL and JSON are dense; what the API counts decides where it is more. */
const tokensOfCharacter = 1 / 3;
const mostOutput = 8_000;
const leastOutput = 1_000;
/** What one more round adds: a reply, and what its tools answer. */
const oneRound = 6_000;
/** Of the time; what is left is for the conclusion. */
const shareForLooking = 0.75;

export function createBudget({ maxToolCalls, maxTokens, seconds }: Limits): Budget {
  const deadline = new AbortController();
  const begun = performance.now();
  const timer = setTimeout(() => deadline.abort(), seconds * 1_000);
  let calls = 0;
  let used = 0;
  let dense: number = tokensOfCharacter;
  const tokensOf = (characters: number): number => Math.ceil(characters * dense);
  return {
    signal: deadline.signal,
    takeCall() {
      calls += 1;
      return calls <= maxToolCalls;
    },
    outputFor(characters) {
      const room = maxTokens - used - tokensOf(characters);
      return room < leastOutput ? undefined : Math.min(mostOutput, room);
    },
    ending(characters) {
      const late = performance.now() - begun > seconds * 1_000 * shareForLooking;
      return late || calls >= maxToolCalls || used + 2 * tokensOf(characters) + oneRound > maxTokens;
    },
    count({ tokens, text, calls: called }, characters) {
      if (tokens) dense = Math.max(tokensOfCharacter, tokens.input / characters);
      const written = text.length + JSON.stringify(called).length;
      used += tokens ? tokens.input + tokens.output : tokensOf(characters + written);
    },
    close: () => clearTimeout(timer),
  };
}
