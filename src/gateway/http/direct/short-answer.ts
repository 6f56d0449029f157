import type { Socket } from 'node:net';
import { HeadroomBuffer } from '../../../mcp/headroom-buffer.ts';

/** Of a body: as much as a client that does not read its answer may keep from others. */
const mostBytes = 12 * 1024;
const mostOfCharacter = 3;

/** Where short answers are put together: nobody's between two of them, so that it serves them all. */
let shared = new HeadroomBuffer(mostBytes);

/**
 * Sends head and body in one piece.
 * @param head up to what it says of the body's length.
 * @param hasLength whether it says that already.
 * @returns false, and nothing is sent, where they are too long.
 */
export function sendShort(
  socket: Socket,
  head: string,
  hasLength: boolean,
  body: string | Buffer | HeadroomBuffer,
): boolean {
  if (body instanceof HeadroomBuffer) return sendBehind(socket, head, hasLength, body);
  if (body.length * (typeof body === 'string' ? mostOfCharacter : 1) > mostBytes) return false;
  const { memory, bodyAt } = shared;
  shared.length = typeof body === 'string' ? memory.write(body, bodyAt) : body.copy(memory, bodyAt);
  if (!sendBehind(socket, head, hasLength, shared)) return false;
  // The socket keeps what the operating system has not taken.
  if (socket.writableLength > 0) shared = new HeadroomBuffer(mostBytes);
  return true;
}

function sendBehind(socket: Socket, head: string, hasLength: boolean, body: HeadroomBuffer): boolean {
  const whole = body.behind(head, hasLength);
  if (whole === undefined) return false;
  socket.write(whole);
  return true;
}
