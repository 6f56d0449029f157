import type { Principal } from '../contract/issuer/index.ts';
import type { RequestId } from './message.ts';

const smallest = 64 * 1024;
const largestKept = 8 * 1024 * 1024;

/** The first bytes of borrowed memory: whoever sends them gives it back, if it can. */
export interface Borrowed {
  readonly memory: Buffer;
  readonly length: number;
}

let free: Buffer | undefined;

/**
 * Memory for one large answer. Answers follow one another, so that one piece serves them all: a new one each time would be
 * garbage outside of V8's heap, for which it collects all of the heap. Whoever has borrowed it is its only owner, until
 * `giveBack` or for good.
 * @returns at least so many bytes, with whatever was in them.
 */
export function borrow(bytes: number): Buffer {
  const memory = free !== undefined && free.length >= bytes ? free : Buffer.allocUnsafeSlow(Math.max(bytes, smallest));
  free = undefined;
  return memory;
}

/** Nobody reads it any more: not the caller, not a socket. */
export function giveBack(memory: Buffer): void {
  if (memory.length <= largestKept) free = memory;
}

/** Whose call it is. */
export type Caller = Pick<Principal, 'organizationId' | 'subject'>;

/**
 * Calls under way that a 2025 client may cancel by a second request. Best effort by nature: another replica's calls are not
 * here, and beyond `limit` a call simply cannot be cancelled.
 */
export interface RunningCalls {
  /** Answers the function that takes the call out again. */
  add(caller: Caller, sessionId: string | undefined, id: RequestId, controller: AbortController): () => void;
  cancel(caller: Caller, sessionId: string | undefined, id: unknown): boolean;
}

const ignore = (): void => {};

export function createRunningCalls(limit = 10_000): RunningCalls {
  const running = new Map<string, AbortController>();
  return {
    add(caller, sessionId, id, controller) {
      if (sessionId === undefined || running.size >= limit) return ignore;
      const key = keyOf(caller, sessionId, id);
      running.set(key, controller);
      return () => {
        // A client that reuses an id has replaced the entry; it is the later call's.
        if (running.get(key) === controller) running.delete(key);
      };
    },
    cancel(caller, sessionId, id) {
      if (sessionId === undefined || (typeof id !== 'string' && typeof id !== 'number')) return false;
      const controller = running.get(keyOf(caller, sessionId, id));
      controller?.abort();
      return controller !== undefined;
    },
  };
}

function keyOf({ organizationId, subject }: Caller, sessionId: string, id: RequestId): string {
  return JSON.stringify([organizationId, subject, sessionId, id]);
}
