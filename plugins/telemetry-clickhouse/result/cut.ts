/** A cell's JSON of more than `most` bytes (latin1) as a JSON string that holds its start and says how much is missing. */
export function cutCell(json: string, most: number): string {
  const bytes = Buffer.from(json, 'latin1');
  const plain = json.startsWith('"') ? textOf(bytes) : bytes;
  let keep = Math.min(plain.length, most);
  for (;;) {
    const start = wholeCharacters(plain, keep);
    const text = JSON.stringify(`${start}…[${plain.length - Buffer.byteLength(start)} bytes cut]`);
    const over = Buffer.byteLength(text) - most;
    if (over <= 0 || keep === 0) return Buffer.from(text).toString('latin1');
    // An escaped character is up to six times as long as it was.
    keep = Math.max(0, keep - Math.max(1, Math.ceil(over / 6)));
  }
}

function textOf(json: Buffer): Buffer {
  const value: unknown = JSON.parse(json.toString('utf8'));
  return Buffer.from(String(value));
}

function wholeCharacters(bytes: Buffer, length: number): string {
  let end = length;
  while (end > 0 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
