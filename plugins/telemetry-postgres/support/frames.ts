/** A message as the server sends it. */
export function frame(code: string, body: string | Buffer = ''): Buffer {
  const bytes = Buffer.from(body);
  const head = Buffer.from(`${code}0000`, 'latin1');
  head.writeUInt32BE(bytes.length + 4, 1);
  return Buffer.concat([head, bytes]);
}

/** One column of text, one row of it, and one step that was read, bound and carried out. */
export const described = frame('T', Buffer.from('\0\x01x\0\0\0\0\0\0\0\0\0\0\x19\0\0\0\0\0\0\0\0', 'latin1'));
export const row = frame('D', Buffer.from('\0\x01\0\0\0\x01a', 'latin1'));
export const step = Buffer.concat([frame('1'), frame('2'), frame('C', 'SELECT 1\0')]);
export const ready = frame('Z', 'I');
