import type { IncomingHttpHeaders } from 'node:http';
import { Exchange, failureText, resultText, type ExchangeLimits } from './exchange.ts';
import { RequestFailure, rpcCode } from './protocol.ts';
import type { PreparedResult } from './catalog.ts';
import { giveBack, maxResultBytes, type Borrowed } from './result.ts';

/** JSON-RPC batches were in these revisions alone; a client that names none speaks 2025-03-26. */
const revisions: ReadonlySet<string> = new Set(['2025-03-26', '2024-11-05']);
const mostMessages = 20;

export function takesBatches({ 'mcp-protocol-version': named }: IncomingHttpHeaders): boolean {
  return named === undefined || (typeof named === 'string' && revisions.has(named));
}

/**
 * One after another: a batch is one request to those who count requests at once. Throws for one that is none, or too long.
 * `answer` answers a message, also where it fails.
 */
export async function answerBatch(
  exchange: Exchange,
  messages: readonly unknown[],
  limits: ExchangeLimits,
  answer: (part: BatchPart, message: unknown) => Promise<void>,
): Promise<void> {
  if (messages.length === 0 || messages.length > mostMessages) {
    throw new RequestFailure(400, rpcCode.invalidRequest, `A batch has 1 to ${mostMessages} messages.`);
  }
  const answers: string[] = [];
  let size = 0;
  for (const message of messages) {
    const part = new BatchPart(exchange.request, exchange.response, limits);
    if (size > maxResultBytes) part.failure(noRoom());
    else await answer(part, message);
    if (part.text === undefined) continue;
    answers.push(part.text);
    size += part.text.length;
  }
  exchange.batch(answers);
}

function noRoom(): RequestFailure {
  return new RequestFailure(200, rpcCode.invalidRequest, 'The answers before are too large: send this by itself.');
}

/** One message of a batch: its answer is kept for the array of all. Progress has no place there. */
export class BatchPart extends Exchange {
  text: string | undefined;

  override get done(): boolean {
    return this.text !== undefined || super.done;
  }

  override result(json: string | Buffer | Borrowed): number {
    this.text = resultText(this.id, json);
    if (typeof json !== 'string' && !Buffer.isBuffer(json)) giveBack(json.memory);
    return this.text.length;
  }

  override prepared({ json }: PreparedResult): void {
    this.result(json);
  }

  override failure(failure: RequestFailure): void {
    this.text = failureText(this.id, failure);
  }

  override empty(): void {}

  override event(): void {}

  override abandon(): boolean {
    return true;
  }
}
