import type { Readable } from 'node:stream';
import { z } from 'zod';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const missing = 'is missing';

/** For `safeParse`: a member without a value is missing, whatever the schema expected. The schema's own messages go first. */
export const issueWords: z.core.ParseContext<z.core.$ZodIssue> = {
  error: ({ input, discriminator }) =>
    input === undefined ||
    (typeof discriminator === 'string' && isObject(input) && !Object.hasOwn(input, discriminator))
      ? missing
      : undefined,
};

/** A problem in one line: `chat_id is missing`, `alerts[3].title: expected a text`; of a union what each branch expects. */
export function issueText(issue: z.core.$ZodIssue, at: readonly PropertyKey[] = [], whole = ''): string {
  return problemAt([...at, ...issue.path], causeOf(issue).slice(0, 500), whole);
}

function causeOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0 || issue.message !== 'Invalid input') {
    return issue.message;
  }
  const branches = issue.errors.slice(0, 4).map((branch) => branch.map((inner) => issueText(inner)).join(', '));
  return [...new Set(branches)].join(', or ');
}

/** @param whole what the value itself is called. */
export function problemAt(path: readonly PropertyKey[], problem: string, whole = ''): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`));
  const place = steps.join('').replace(/^\./, '').slice(0, 200) || whole;
  if (place === '') return problem;
  return problem.startsWith(missing) ? `${place} ${problem}` : `${place}: ${problem}`;
}

/** Undefined where it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The body of an answer; undefined where it has more bytes than this, and the rest is cancelled. */
export function bodyWithin({ body }: Response, mostBytes: number): Promise<Buffer<ArrayBuffer> | undefined> {
  return bytesWithin(body ?? [], mostBytes);
}

/**
 * The body of a request; undefined where it has more bytes than this. The stream stays open, so that the answer still goes out, and
 * the rest is dropped: Node does so only with what nobody began to read, and the connection's next request would wait behind it.
 */
export async function requestWithin(request: Readable, mostBytes: number): Promise<Buffer<ArrayBuffer> | undefined> {
  const body = await bytesWithin(request.iterator({ destroyOnReturn: false }), mostBytes);
  if (body === undefined) request.resume();
  return body;
}

/** Undefined where there are more. */
export async function bytesWithin(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  mostBytes: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  // Not a list of what comes: a sender of single bytes would have a hundred times their memory.
  let bytes = Buffer.allocUnsafe(Math.min(mostBytes, 8_192));
  let size = 0;
  for await (const part of stream) {
    const needed = size + part.byteLength;
    if (needed > mostBytes) return undefined;
    if (needed > bytes.length) {
      const before = bytes.subarray(0, size);
      bytes = Buffer.allocUnsafe(Math.min(mostBytes, 2 * needed));
      bytes.set(before);
    }
    bytes.set(part, size);
    size = needed;
  }
  return bytes.subarray(0, size);
}

/**
 * Whether arrays and objects in this JSON text nest deeper than `limit`. Looks at bytes only, before the parser does, so that
 * nothing later has to walk a value of unknown depth. UTF-8 continuation bytes never equal the ASCII marks.
 */
export function nestsDeeperThan(json: Uint8Array, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index];
    if (inString) {
      if (byte === backslash) index += 1;
      else if (byte === quote) inString = false;
    } else if (byte === quote) {
      inString = true;
    } else if (byte === openBracket || byte === openBrace) {
      depth += 1;
      if (depth > limit) return true;
    } else if (byte === closeBracket || byte === closeBrace) {
      depth -= 1;
    }
  }
  return false;
}

/** Whether no more than `limit` brackets and braces open in this text, in strings or not: it cannot nest deeper. */
export function opensAtMost(text: string, limit: number): boolean {
  let left = limit;
  for (const opening of ['{', '[']) {
    for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at + 1)) {
      left -= 1;
      if (left < 0) return false;
    }
  }
  return true;
}

/** The bytes that structure JSON text. Bytes of multi-byte UTF-8 characters never equal them. */
export const quote = 0x22;
export const backslash = 0x5c;
export const comma = 0x2c;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const firstPrintable = 0x20;

/** Where the comma or bracket behind a cell is, in a row that is JSON. Throws where the row ends before. */
export function endOfCell(rows: Uint8Array, start: number): number {
  const { length } = rows;
  let depth = 0;
  let at = start;
  while (at < length) {
    const byte = rows[at];
    if (byte === quote) {
      at += 1;
      while (at < length && rows[at] !== quote) at += rows[at] === backslash ? 2 : 1;
    } else if (byte === openBracket || byte === openBrace) {
      depth += 1;
    } else if (byte === closeBracket || byte === closeBrace) {
      if (depth === 0) return at;
      depth -= 1;
    } else if (byte === comma && depth === 0) {
      return at;
    }
    at += 1;
  }
  throw new Error('rows end inside a cell');
}

/** Of a config: also `"true"` and `"false"`, as `${env:…}` gives them. */
export const flag = z.union([z.boolean(), z.stringbool()]);

/** Of a config: a whole number from `min` to `max`, also as text. */
export function wholeNumber(min: number, max: number) {
  return z.coerce.number().int().min(min).max(max);
}
