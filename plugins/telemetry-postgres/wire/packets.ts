import { serialize } from 'pg-protocol';

/** Of our own making, with values that travel beside it. The server reads it once a session, and keeps it by its name. */
export interface Step {
  readonly name: string;
  readonly text: string;
  readonly values: readonly string[];
}

export const flush = serialize.flush();
export const sync = serialize.sync();
/** Of the statement that was read last, without a name, in a portal without one. */
export const start = Buffer.concat([serialize.bind(), serialize.describe({ type: 'P' })]);

/** @param rows 0 for all. */
export const execute = (rows: number): Buffer => serialize.execute({ rows });

const none = Buffer.alloc(0);

/** The server reads those of the steps that it has not read yet in this session. */
export function unread(steps: readonly Step[], prepared: Set<string>): Buffer {
  let messages: Buffer[] | undefined;
  for (const { name, text } of steps) {
    if (prepared.has(name)) continue;
    prepared.add(name);
    (messages ??= []).push(serialize.parse({ name, text }));
  }
  return messages === undefined ? none : Buffer.concat(messages);
}

/** Steps are the same again and again. */
const runs = new WeakMap<readonly Step[], Buffer>();

/** Carries out steps that were read before. */
export function run(steps: readonly Step[]): Buffer {
  const known = runs.get(steps);
  if (known !== undefined) return known;
  const messages = steps.flatMap(({ name, values }) => [
    serialize.bind({ statement: name, values: [...values] }),
    execute(0),
  ]);
  const made = Buffer.concat(messages);
  runs.set(steps, made);
  return made;
}

/** How many limits on rows there are is up to callers. */
const mostKept = 100;
const wholes = new WeakMap<readonly Step[], Map<number, Buffer>>();

/** After a statement: asks for `rows` of it, and then carries out `after`, whatever is left. */
export function whole(rows: number, after: readonly Step[]): Buffer {
  const known = wholes.get(after) ?? new Map<number, Buffer>();
  wholes.set(after, known);
  const made = known.get(rows) ?? Buffer.concat([start, execute(rows), run(after), sync]);
  if (known.size >= mostKept) known.clear();
  known.set(rows, made);
  return made;
}

const parseCode = 0x50;

/** One packet, not one for each message: what comes before the statement, the statement without a name, and what comes after. */
export function around(text: string, before: readonly Buffer[], after: Buffer): Buffer {
  let at = 0;
  for (const part of before) at += part.length;
  const textBytes = Buffer.byteLength(text);
  // Code, length, no name, the text and its end, and no types.
  const packet = Buffer.allocUnsafe(at + 6 + textBytes + 3 + after.length);
  at = 0;
  for (const part of before) at += part.copy(packet, at);
  packet[at] = parseCode;
  packet.writeUInt32BE(textBytes + 8, at + 1);
  packet[at + 5] = 0;
  at += 6;
  at += packet.write(text, at);
  packet.fill(0, at, at + 3);
  after.copy(packet, at + 3);
  return packet;
}
