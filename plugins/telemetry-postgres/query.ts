import type { Cursor, CursorEnd, QueryLimits, RowChunk } from '../../src/contract/index.ts';
import type { Connections } from './connections.ts';
import { Stopped } from './failures.ts';
import type { KnownSmall } from './known-small.ts';
import { Portal, type Step } from './portal.ts';
import { RowSerializer } from './rows.ts';

export interface QueryRequest {
  readonly connections: Connections;
  readonly tenant: string;
  readonly before: readonly Step[];
  /** The statement, and what is sent before it to say who asks. */
  readonly text: string;
  readonly label: string;
  readonly after: Step;
  readonly small: KnownSmall;
  readonly limits: QueryLimits;
  readonly signal: AbortSignal;
}

/** The server ends a statement itself at its time-out; so much later it is stopped from here. */
const graceMs = 200;

/**
 * Runs one statement on a connection of its own until it is read to its end, closed, aborted or out of time. Whichever it
 * is, the connection goes back clean or is closed. Rejects with what happened, unexplained.
 */
export async function runQuery(request: QueryRequest): Promise<Cursor> {
  const { connections, tenant, before, text, label, after, small, limits, signal } = request;
  if (signal.aborted) throw new Stopped('cancelled');
  const ending = new AbortController();
  const leave = () => ending.abort();
  signal.addEventListener('abort', leave, { once: true });
  const timer = setTimeout(leave, limits.timeoutMs + graceMs);
  const reason = () => new Stopped(signal.aborted ? 'cancelled' : 'timeout');
  const letGo = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  };
  const lease = await connections.lease(ending.signal, tenant).catch((error: unknown) => {
    letGo();
    throw ending.signal.aborted ? reason() : error;
  });
  const rows = new RowSerializer(limits);
  const { prepared } = lease.session;
  const portal = new Portal({ before, text: label + text, after, prepared, small: small.has(text), rows });
  const stop = () => {
    portal.fail(reason());
    void lease.abandon();
  };
  const finish = async () => {
    letGo();
    ending.signal.removeEventListener('abort', stop);
    await (portal.end() ? lease.giveBack(portal.idle) : lease.abandon());
  };
  lease.onAbandon = () => portal.fail(new Stopped('closing'));
  ending.signal.addEventListener('abort', stop, { once: true });
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
  if (ending.signal.aborted) stop();
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
        small.note(text, portal.wasSmall);
        void finish();
      }
      return chunk;
    },
    async close() {
      if (!ended) portal.fail(new Stopped('cancelled'));
      ended = true;
      await finish();
    },
  };
}
