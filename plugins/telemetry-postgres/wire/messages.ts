import { Readable } from 'node:stream';
import { parse } from 'pg-protocol';
import { uint16, uint32 } from './frames.ts';

/** What the server says, by the first byte of the message. */
export const codes = {
  rowDescription: 0x54,
  dataRow: 0x44,
  portalSuspended: 0x73,
  commandComplete: 0x43,
  emptyQuery: 0x49,
  error: 0x45,
  readyForQuery: 0x5a,
  copyIn: 0x47,
  copyOut: 0x48,
  copyBoth: 0x57,
  copyData: 0x64,
} as const;

export interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

/** After a field's name: its table and place there, type, the type's size and modifier, and the format. */
const afterName = { type: 6, all: 18 };

/** The columns that a RowDescription names; undefined where it is none. */
export function fieldsOf(bytes: Buffer, start: number, end: number): readonly Field[] | undefined {
  const fields: Field[] = [];
  let at = start + 2;
  for (let left = uint16(bytes, start); left > 0; left -= 1) {
    const zero = bytes.indexOf(0, at);
    if (zero === -1 || zero + 1 + afterName.all > end) return undefined;
    fields.push({ name: bytes.toString('utf8', at, zero), dataTypeID: uint32(bytes, zero + 1 + afterName.type) });
    at = zero + 1 + afterName.all;
  }
  return fields;
}

/** `SELECT 1`, of a CommandComplete. */
export function tagOf(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('latin1', start, end - 1);
}

const errors = new Readable({ read() {} });
let lastMade: unknown;
void parse(errors, (message) => {
  lastMade = message;
});

/** The driver's own error of a whole ErrorResponse, head and all. */
export function errorOf(frame: Buffer): Error {
  // Listeners run before `emit` returns.
  errors.emit('data', frame);
  const made = lastMade;
  lastMade = undefined;
  return made instanceof Error ? made : new Error('the server sent an error that cannot be read');
}
