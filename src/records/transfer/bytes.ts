import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { SightlineError, errorCode } from '../../contract/core/index.ts';
import { damaged } from './format.ts';

/** What is in the file, unpacked where it is gzipped. Throws SightlineErrors alone. */
export async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    const packed = await isGzipped(file);
    const source = createReadStream(file, { highWaterMark: 256 * 1024 });
    if (!packed) {
      yield* source;
      return;
    }
    const unpacked = createGunzip();
    // The reader gets its failure.
    pipeline(source, unpacked).catch(() => {});
    yield* unpacked;
  } catch (cause) {
    if (cause instanceof SightlineError) throw cause;
    const code = errorCode(cause);
    if (code === 'Z_BUF_ERROR') throw damaged('it ends too early', cause);
    if (typeof code === 'string' && code.startsWith('Z_'))
      throw damaged('what is packed in it cannot be unpacked', cause);
    const why = code === 'ENOENT' ? 'does not exist' : 'cannot be read';
    throw new SightlineError('invalid_argument', `The file ${file} ${why}.`, { cause });
  }
}

async function isGzipped(file: string): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await handle.close();
  }
}
