import { z } from 'zod';
import { isId, type OrganizationId } from '../../contract/core/index.ts';
import type { KeptResult, PageRequest } from '../../telemetry/query/kept-page.ts';
import type { Holder, ReadPage } from '../../telemetry/query/kept-results.ts';

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

export const fromPrimary = z.discriminatedUnion('kind', [
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
export type Admitted = z.output<typeof admitted>;
export type Cancelled = z.output<typeof cancelled>;

/** What a worker is given on its way, in the environment variable of this name, as JSON. */
export const assignmentVariable = 'SIGHTLINE_WORKER';
export const assignmentShape = z.object({ number: z.int().min(1), of: z.int().min(2), port: z.int().min(1) });
export type Assignment = z.output<typeof assignmentShape>;
