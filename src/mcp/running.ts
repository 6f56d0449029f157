import type { Principal } from '../contract/issuer/index.ts';
import type { RequestId } from './message.ts';

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
