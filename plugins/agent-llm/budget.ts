import type { Limits } from './config.ts';
import type { LlmReply } from './client/client.ts';

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
