import type { Principal } from '../contract/issuer/index.ts';
import type { RequestId } from './message.ts';

const smallest = 64 * 1024;
const largestKept = 8 * 1024 * 1024;

/** The used part of borrowed memory. The sender gives it back once the kernel has taken it. */
export interface Borrowed {
  readonly memory: Buffer;
  readonly length: number;
}

let free: Buffer | undefined;

/**
 * A buffer for one large answer, reused by the next: off-heap garbage would trigger full collections in V8. The borrower is
 * its only owner until `giveBack`, or for good.
 * @returns at least `bytes` bytes, uninitialized.
 */
export function borrow(bytes: number): Buffer {
  const memory = free !== undefined && free.length >= bytes ? free : Buffer.allocUnsafeSlow(Math.max(bytes, smallest));
  free = undefined;
  return memory;
}

/** Only when neither the caller nor a socket reads it any more. */
export function giveBack(memory: Buffer): void {
  if (memory.length <= largestKept) free = memory;
}

/** Whose call it is. */
export type Caller = Pick<Principal, 'organizationId' | 'subject'>;

/** Running calls that a 2025 client may cancel with a second request. Best effort: not other replicas', nor beyond `limit`. */
export interface RunningCalls {
  /** Returns the function that removes the call. */
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
