import { setTimeout as sleep } from 'node:timers/promises';
import type { Credentials } from '../../../test/support/gateway.ts';
import { callTool, type Answer, type Called } from '../client.ts';
import type { Ledger } from '../ledger.ts';
import type { Stage } from '../stage.ts';
import type { Traffic } from '../traffic.ts';

export interface LoadContext {
  readonly stage: Stage;
  readonly ledger: Ledger;
  readonly traffic: Traffic;
  readonly key: Credentials;
  readonly ingestToken: string;
  /** A token of the key, which lives longer than the run. */
  readonly token: string;
  /** Aborted when no more is to be sent. */
  readonly signal: AbortSignal;
}

/** One client: turn after turn, with a rest in between, until it is told to stop. */
export async function runLine(
  { signal }: LoadContext,
  restMs: number,
  turn: (number: number) => Promise<void>,
): Promise<void> {
  for (let number = 1; !signal.aborted; number += 1) {
    await turn(number);
    await sleep(restMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {});
  }
}

/** Asks, and notes how it went. `failureOf` says why an answer is none, if it is none. */
export async function noted<Result extends Answer>(
  { traffic }: LoadContext,
  kind: string,
  ask: () => Promise<Result>,
  failureOf: (answer: Result) => string | undefined,
): Promise<Result> {
  const from = performance.now();
  const answer = await ask();
  const failure = failureOf(answer);
  const { replica } = answer;
  traffic.note({ kind, replica, from, to: performance.now(), ...(failure !== undefined && { failure }) });
  return answer;
}

/** A tool of the workspace through the front, counted for the audit. */
export async function toolThroughFront(context: LoadContext, name: string, args: object): Promise<Called> {
  const { stage, ledger, token } = context;
  ledger.toolCalls.sent += 1;
  const answer = await noted(context, name, () => callTool(stage.url, token, name, args), failureOfTool);
  if (answer.structured !== undefined) {
    ledger.toolCalls.answered.push({ at: performance.now(), replica: answer.replica });
  }
  return answer;
}

export function failureOfTool({ structured, status, body }: Called): string | undefined {
  return structured === undefined ? `${status} ${body.slice(0, 300)}` : undefined;
}
