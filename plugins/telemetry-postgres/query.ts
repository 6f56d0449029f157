import type { Cursor, CursorEnd, QueryLimits, RowChunk } from '../../src/contract/index.ts';
import type { Connections } from './connections.ts';
import { Stopped } from './failures.ts';
import { Portal, type Step } from './portal.ts';
import { RowSerializer } from './rows.ts';

export interface QueryRequest {
  readonly connections: Connections;
  /** Whom the connection is for, where others need some too. */
  readonly who: string | undefined;
  readonly steps: readonly Step[];
  readonly text: string;
  readonly limits: QueryLimits;
  readonly signal: AbortSignal;
}

/** The server ends a statement itself at its time-out; so much later it is stopped from here. */
const graceMs = 200;

/**
 * Runs one statement on a connection of its own until it is read to its end, closed, aborted or out of time. Whichever it
 * is, the connection goes back clean or is closed. Rejects with what happened, unexplained.
 */
export async function runQuery({ connections, who, steps, text, limits, signal }: QueryRequest): Promise<Cursor> {
  if (signal.aborted) throw new Stopped('cancelled');
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), limits.timeoutMs + graceMs);
  const either = AbortSignal.any([signal, deadline.signal]);
  const reason = () => new Stopped(signal.aborted ? 'cancelled' : 'timeout');
  const lease = await connections.lease(either, who).catch((error: unknown) => {
    clearTimeout(timer);
    throw either.aborted ? reason() : error;
  });
  const rows = new RowSerializer(limits);
  const portal = new Portal(steps, text, rows);
  const stop = () => {
    portal.fail(reason());
    void lease.abandon();
  };
  const finish = async () => {
    clearTimeout(timer);
    either.removeEventListener('abort', stop);
    await (portal.end() ? lease.giveBack() : lease.abandon());
  };
  lease.onAbandon = () => portal.fail(new Stopped('closing'));
  either.addEventListener('abort', stop, { once: true });
  let ended = false;
  let end: CursorEnd | undefined;
  const next = async (): Promise<RowChunk | undefined> => {
    for (;;) {
      const { complete } = portal;
      const chunk = rows.take();
      if (chunk !== undefined || complete) return chunk;
      await portal.batch();
    }
  };
  const step = async (): Promise<RowChunk | undefined> => {
    try {
      return await next();
    } catch (error) {
      void finish();
      throw error;
    }
  };
  if (either.aborted) stop();
  else lease.client.query(portal);
  let first = await step();
  return {
    columns: rows.columns,
    get end() {
      return end;
    },
    async read() {
      if (ended) return undefined;
      const chunk = first ?? (await step());
      first = undefined;
      if (chunk === undefined) {
        ended = true;
        end = rows.end;
        void finish();
      }
      return chunk;
    },
    async close() {
      ended = true;
      portal.fail(new Stopped('cancelled'));
      await finish();
    },
  };
}
