import type { Socket } from 'node:net';

const headRoom = 2 * 1024;
/** Of a body: as much as a client that does not read its answer may keep from others. */
const mostBytes = 12 * 1024;
const mostOfCharacter = 3;

/**
 * Where short answers are put together, the head just before its room ends and the body from there. Nobody's between two
 * answers, so that it serves them all.
 */
let memory = Buffer.allocUnsafeSlow(headRoom + mostBytes);
/** What the head in memory was made of: most answers in a row have the same one. */
let writtenHead: string | undefined;
let writtenLength: number | undefined;
let start = headRoom;

/**
 * Sends head and body in one piece.
 * @param head up to what it says of the body's length.
 * @param hasLength whether it says that already.
 * @returns false, and nothing is sent, where they are too long.
 */
export function sendShort(socket: Socket, head: string, hasLength: boolean, body: string | Buffer): boolean {
  if (body.length * (typeof body === 'string' ? mostOfCharacter : 1) > mostBytes) return false;
  const length = typeof body === 'string' ? memory.write(body, headRoom) : body.copy(memory, headRoom);
  const said = hasLength ? undefined : length;
  if (head !== writtenHead || said !== writtenLength) {
    const whole = `${head}${hasLength ? '' : `content-length: ${length}\r\n`}\r\n`;
    if (whole.length > headRoom) return false;
    start = headRoom - whole.length;
    memory.write(whole, start, 'latin1');
    writtenHead = head;
    writtenLength = said;
  }
  socket.write(memory.subarray(start, headRoom + length));
  if (socket.writableLength > 0) {
    // The socket keeps what the operating system has not taken.
    memory = Buffer.allocUnsafeSlow(memory.length);
    writtenHead = undefined;
  }
  return true;
}
