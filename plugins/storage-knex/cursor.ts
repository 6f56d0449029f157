import { createHash } from 'node:crypto';
import { z } from 'zod';
import { SightlineError } from '../../src/contract/core/index.ts';

/** Where a page ended: the sort time and id of its last row. */
export interface Position {
  readonly time: number;
  readonly id: string;
}

const cursorJson = z.tuple([z.int(), z.string().max(40), z.string().length(16)]);

/** An opaque cursor, bound to what was listed: `listing` is the organization, the list's name and the whole filter. */
export function writeCursor(position: Position, listing: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([position.time, position.id, digest(listing)])).toString('base64url');
}

/** Throws `invalid_argument` for what `writeCursor` did not write for the same listing. */
export function readCursor(cursor: string, listing: readonly unknown[]): Position {
  const parsed = cursor.length > 200 ? undefined : decode(cursor);
  if (parsed === undefined || parsed[2] !== digest(listing)) {
    throw new SightlineError('invalid_argument', 'The cursor does not belong to this list with these filters.', {
      hint: 'Repeat the call without a cursor to begin again, or send the filters the cursor came with.',
    });
  }
  return { time: parsed[0], id: parsed[1] };
}

function decode(cursor: string): z.output<typeof cursorJson> | undefined {
  try {
    return cursorJson.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

function digest(listing: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(listing)).digest('hex').slice(0, 16);
}
