import type { IncomingHttpHeaders } from 'node:http';
import { Exchange, failureText, resultText } from './exchange.ts';
import { RequestFailure, rpcCode } from './protocol.ts';
import type { PreparedResult } from './catalog.ts';
import { giveBack, maxResultBytes, type Borrowed } from './result.ts';

/** JSON-RPC batches were in these revisions alone; a client that names none speaks 2025-03-26. */
const revisions: ReadonlySet<string> = new Set(['2025-03-26', '2024-11-05']);
const mostMessages = 20;

export function takesBatches({ 'mcp-protocol-version': named }: IncomingHttpHeaders): boolean {
  return named === undefined || (typeof named === 'string' && revisions.has(named));
}

/** Throws for a batch that is none, or too long. */
export function checkBatch(messages: readonly unknown[]): void {
  if (messages.length > 0 && messages.length <= mostMessages) return;
  throw new RequestFailure(400, rpcCode.invalidRequest, `A batch has 1 to ${mostMessages} messages.`);
}

/** Throws where the answers are as large as one answer may be. */
export function checkRoom(answers: readonly string[]): void {
  let size = 0;
  for (const { length } of answers) size += length;
  if (size <= maxResultBytes) return;
  throw new RequestFailure(200, rpcCode.invalidRequest, 'The answers before are too large: send this by itself.');
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
