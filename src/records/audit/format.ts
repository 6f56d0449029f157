import { z } from 'zod';
import { isId, type OrganizationId, parseJson } from '../../contract/core/index.ts';
import { auditEvents } from '../../contract/storage/index.ts';

/** What the master key signs at the end of an exported file. */
export const signatureContext = 'audit-export';

const time = z.iso.datetime();
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const organization = z.custom<OrganizationId>((value) => typeof value === 'string' && isId('org', value));
const count = z.number().int().nonnegative();

const headerLine = z.strictObject({
  type: z.literal('audit'),
  format: z.literal(1),
  exportedAt: time,
  organizations: z.array(z.strictObject({ id: organization, name: z.string() })),
  from: time.exactOptional(),
  to: time.exactOptional(),
});

const chainLine = z.strictObject({
  type: z.literal('chain'),
  organization,
  chain: count,
  instance: z.string(),
  openedAt: time,
});

const recordLine = z.strictObject({
  type: z.literal('record'),
  organization,
  chain: count,
  seq: count,
  at: time,
  event: z.enum(auditEvents),
  subject: z.string(),
  requestId: z.string(),
  target: z.string(),
  outcome: z.string(),
  argumentsHash: z.string().exactOptional(),
  durationMs: z.number().exactOptional(),
  rows: z.number().exactOptional(),
  bytes: z.number().exactOptional(),
  truncated: z.boolean().exactOptional(),
  statement: z.string().exactOptional(),
  /** The hash before it, where the record before it is not in the file. */
  previous: hash.exactOptional(),
  hash,
  /** A seal, where the statement was erased. */
  erased: z.string().exactOptional(),
});

const problemLine = z.strictObject({
  type: z.literal('problem'),
  organization,
  chain: count.exactOptional(),
  seq: count.exactOptional(),
  what: z.string(),
});

const endLine = z.strictObject({
  type: z.literal('end'),
  records: count,
  problems: count,
  /** Of all lines before. */
  sha256: hash,
  signature: z.string(),
});

const fileLine = z.discriminatedUnion('type', [headerLine, chainLine, recordLine, problemLine, endLine]);

/** One line of an exported file, or undefined where it is none. */
export function parseFileLine(text: string): FileLine | undefined {
  return fileLine.safeParse(parseJson(text)).data;
}

export type FileLine = z.output<typeof fileLine>;
export type HeaderLine = z.output<typeof headerLine>;
export type ChainLine = z.output<typeof chainLine>;
export type RecordLine = z.output<typeof recordLine>;
export type EndLine = z.output<typeof endLine>;
