import type { Server } from 'node:net';
import { z } from 'zod';
import { isId, type OrganizationId } from '../../contract/core/index.ts';
import type { KeptResult, PageRequest } from '../../telemetry/query/kept-page.ts';
import { type Holder, type KeptPages, type ReadPage, resultExpired } from '../../telemetry/query/kept-results.ts';
import type { RunningCalls } from '../../mcp/message.ts';
import type { PartialRateLimiter } from '../../limits/rate-limit.ts';

/*
 * What the processes of one gateway say to each other, over Node's channel between parent and child. Both ends are this
 * program, so that a message's kind is read and its content believed.
 */

const caller = z.object({
  organizationId: z.custom<OrganizationId>((value) => typeof value === 'string' && isId('org', value)),
  subject: z.string(),
});
const content = <Type>() => z.custom<Type>((value) => typeof value === 'object' && value !== null);
/** Tells an answer from others. */
const call = z.int();

/** Requests that were let in, by the caller's key in the rate limit. */
const admitted = z.object({ kind: z.literal('admitted'), counts: z.array(z.tuple([z.string(), z.int()])) });
/** A client's cancellation, which may be of a call at another worker. */
const cancelled = z.object({
  kind: z.literal('cancelled'),
  caller,
  sessionId: z.string(),
  id: z.union([z.string(), z.number()]),
});

export const fromWorker = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('serving') }),
  z.object({ kind: z.literal('keep'), call, holder: content<Holder>(), result: content<KeptResult>() }),
  z.object({
    kind: z.literal('page'),
    call,
    holder: content<Holder>(),
    id: z.string(),
    request: content<PageRequest>(),
  }),
  admitted,
  cancelled,
]);

const fromPrimary = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('stop') }),
  /** This worker ends, and another takes its place. */
  z.object({ kind: z.literal('retire') }),
  /** Sets up an empty workspace. */
  z.object({ kind: z.literal('greet') }),
  z.object({ kind: z.literal('reload') }),
  /** Without an id the result was too large. */
  z.object({ kind: z.literal('kept'), call, id: z.string().optional() }),
  /** Without a page there is no such result. */
  z.object({ kind: z.literal('page'), call, page: content<ReadPage>().optional() }),
  admitted,
  cancelled,
]);

export type FromWorker = z.output<typeof fromWorker>;
export type FromPrimary = z.output<typeof fromPrimary>;
type Admitted = z.output<typeof admitted>;
type Cancelled = z.output<typeof cancelled>;

/** What a worker is given on its way, in the environment variable of this name, as JSON. */
export const assignmentVariable = 'SIGHTLINE_WORKER';
const assignmentShape = z.object({ number: z.int().min(1), of: z.int().min(2), port: z.int().min(1) });
export type Assignment = z.output<typeof assignmentShape>;

/** Sooner after the one before, a connection is one of a burst. */
const burstMs = 5;
/** The least that the system sleeps, some 60 µs with its own slack, is what another process needs to be woken. */
const pauseMs = 0.01;

/**
 * The process that is awake would take a whole burst of connections and serve those clients alone. So it sleeps a
 * moment after each but the first, and the others take the next; a connection alone costs nothing.
 */
export function leaveToOthers(server: Server): void {
  const nobodyWakes = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let before = -Infinity;
  server.on('connection', () => {
    if (performance.now() - before < burstMs) Atomics.wait(nobodyWakes, 0, 0, pauseMs);
    before = performance.now();
  });
}

/** A worker's place in its gateway, and its line to the primary. */
export interface Seat extends Assignment {
  tell(message: FromWorker): void;
  /** What other workers said. */
  hear(listener: (message: Admitted | Cancelled) => void): void;
  readonly keptPages: KeptPages;
  /** What the primary asks of the process itself; what it asked before is said first. */
  orders(listener: (order: Order) => void): void;
}

export type Order = 'stop' | 'retire' | 'greet' | 'reload';

type Waiting = (answer: Extract<FromPrimary, { readonly call: number }>) => void;

/** Takes the seat that the primary started this process for. */
export function takeSeat(): Seat {
  const assignment = assignmentShape.parse(JSON.parse(process.env[assignmentVariable] ?? 'null'));
  const listeners: ((message: Admitted | Cancelled) => void)[] = [];
  const waiting = new Map<number, Waiting>();
  const given: Order[] = [];
  let obey = (order: Order): void => void given.push(order);
  let calls = 0;

  process.on('message', (received) => {
    const message = fromPrimary.parse(received);
    switch (message.kind) {
      case 'stop':
      case 'retire':
      case 'greet':
      case 'reload':
        obey(message.kind);
        break;
      case 'kept':
      case 'page':
        waiting.get(message.call)?.(message);
        waiting.delete(message.call);
        break;
      default:
        for (const listener of listeners) listener(message);
    }
  });

  // A failed send is ignored: without its primary, this process exits anyway.
  const tell = (message: FromWorker): void => void process.send?.(message, undefined, {}, () => undefined);

  function ask(question: (call: number) => FromWorker): Promise<Parameters<Waiting>[0]> {
    calls += 1;
    const { promise, resolve } = Promise.withResolvers<Parameters<Waiting>[0]>();
    waiting.set(calls, resolve);
    tell(question(calls));
    return promise;
  }

  return {
    ...assignment,
    tell,
    hear: (listener) => void listeners.push(listener),
    orders(listener) {
      obey = listener;
      for (const order of given.splice(0)) listener(order);
    },
    keptPages: {
      async keep({ organizationId, subject, role }, result) {
        const holder = { organizationId, subject, role };
        const answer = await ask((call) => ({ kind: 'keep', call, holder, result }));
        return answer.kind === 'kept' ? answer.id : undefined;
      },
      async page({ organizationId, subject, role }, id, request) {
        const holder = { organizationId, subject, role };
        const answer = await ask((call) => ({ kind: 'page', call, holder, id, request }));
        if (answer.kind !== 'page' || answer.page === undefined) throw resultExpired();
        return withBuffer(answer.page);
      },
      // They are everybody's.
      clear: () => undefined,
    },
  };
}

/** The channel gives bytes back as plain arrays of them. */
export function withBuffer<Result extends Pick<ReadPage, 'rows'>>(result: Result): Result {
  const { json, ends } = result.rows;
  return { ...result, rows: { json: Buffer.from(json.buffer, json.byteOffset, json.byteLength), ends } };
}

const tellEveryMs = 50;

/**
 * One limit for a principal, whichever worker it calls. Each worker counts at once and tells the others a moment later;
 * a burst at several within that moment is paid back afterwards.
 */
export function shareRateLimit(limiter: PartialRateLimiter, { tell, hear }: Pick<Seat, 'tell' | 'hear'>): void {
  const admitted = limiter.tally(() => void setTimeout(tellAll, tellEveryMs).unref());
  function tellAll(): void {
    tell({ kind: 'admitted', counts: [...admitted] });
    admitted.clear();
  }
  hear((message) => {
    if (message.kind !== 'admitted') return;
    for (const [caller, count] of message.counts) limiter.debit(caller, count, admitted);
  });
}

/** A call is cancelled at whichever worker it runs. */
export function shareRunningCalls(own: RunningCalls, { tell, hear }: Pick<Seat, 'tell' | 'hear'>): RunningCalls {
  hear((message) => {
    if (message.kind === 'cancelled') own.cancel(message.caller, message.sessionId, message.id);
  });
  return {
    add: (...call) => own.add(...call),
    cancel(caller, sessionId, id) {
      if (own.cancel(caller, sessionId, id)) return true;
      if (sessionId === undefined || (typeof id !== 'string' && typeof id !== 'number')) return false;
      const { organizationId, subject } = caller;
      tell({ kind: 'cancelled', caller: { organizationId, subject }, sessionId, id });
      return false;
    },
  };
}
