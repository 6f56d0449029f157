import { serialize } from 'pg-protocol';
import type { NamedStatement } from '../known-small.ts';

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

/** Parse messages for the steps that this session has not prepared yet. */
export function unread(steps: readonly Step[], prepared: Set<string>): Buffer {
  let messages: Buffer[] | undefined;
  for (const { name, text } of steps) {
    if (prepared.has(name)) continue;
    prepared.add(name);
    (messages ??= []).push(serialize.parse({ name, text }));
  }
  return messages === undefined ? none : Buffer.concat(messages);
}

/** Made once of each: steps and statements are the same again and again. */
function remembered<Key extends object>(make: (key: Key) => Buffer): (key: Key) => Buffer {
  const known = new WeakMap<Key, Buffer>();
  return (key) => {
    let made = known.get(key);
    if (made === undefined) known.set(key, (made = make(key)));
    return made;
  };
}

/** Carries out steps that were read before. */
export const run = remembered((steps: readonly Step[]) =>
  Buffer.concat(
    steps.flatMap(({ name, values }) => [serialize.bind({ statement: name, values: [...values] }), execute(0)]),
  ),
);

/** Carries out `after`, and ends what was sent. */
export const ending = remembered((after: readonly Step[]) => Buffer.concat([run(after), sync]));

/** After a statement: asks for all of its rows, and then carries out `after`. A number of rows would keep it from running in parallel. */
export const whole = remembered((after: readonly Step[]) => Buffer.concat([start, execute(0), ending(after)]));

/** Asks for all rows of a statement that the server keeps. */
export const carryOut = remembered(({ name }: NamedStatement) =>
  Buffer.concat([serialize.bind({ statement: name }), serialize.describe({ type: 'P' }), execute(0)]),
);

/** Which a session's server keeps, with their plans. */
const mostStatements = 20;

/** Has the server keep a statement that it does not yet, and forget the oldest where those are enough. */
export function keep({ name, text }: NamedStatement, statements: Set<string>): Buffer {
  if (statements.has(name)) return none;
  const [oldest] = statements;
  const forgotten = statements.size < mostStatements ? undefined : oldest;
  if (forgotten !== undefined) statements.delete(forgotten);
  statements.add(name);
  const kept = serialize.parse({ name, text });
  return forgotten === undefined ? kept : Buffer.concat([serialize.close({ type: 'S', name: forgotten }), kept]);
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
