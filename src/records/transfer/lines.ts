import { damaged, longestLine } from './format.ts';

const newline = 0x0a;

/** The lines of a stream of bytes, without their ends. One that is not ended is refused, and so is one too long to be ours. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
      const last = bytes.subarray(start, end);
      yield parts.length === 0 ? last : Buffer.concat([...parts, last]);
      parts = [];
      held = 0;
      start = end + 1;
    }
    const rest = bytes.subarray(start);
    if (rest.length === 0) continue;
    parts.push(rest);
    held += rest.length;
    if (held > longestLine) throw damaged('a line of it is too long');
  }
  if (held > 0) throw damaged('it ends within a line');
}
