import { gzipSync } from 'node:zlib';
import type { RequestId } from './message.ts';

/** Ids below are the ones that official clients give to `tools/list`: it is among their first requests. */
const keptIds = 64;

/** A result that is the same for every caller, serialized once and compressed once for each small request id. */
export class PreparedResult {
  readonly json: Buffer;
  readonly #text: string;
  readonly #packed: Buffer[] = [];

  constructor(result: object) {
    this.#text = JSON.stringify(result);
    this.json = Buffer.from(this.#text);
  }

  /** The whole message as gzip; undefined for an id for which none is kept. */
  compressed(id: RequestId): Buffer | undefined {
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= keptIds) return undefined;
    return (this.#packed[id] ??= gzipSync(`{"jsonrpc":"2.0","id":${id},"result":${this.#text}}`, { level: 9 }));
  }
}
