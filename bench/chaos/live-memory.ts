import { once } from 'node:events';
import { z } from 'zod';

const patienceMs = 5_000;
const said = /Debugger listening on (ws:\/\/\S+)/;
const answer = z.object({ id: z.number(), result: z.unknown() });
const usage = z.object({ usedSize: z.number(), backingStorageSize: z.number() });

/** Lets a process of Node be asked for its live memory. */
export const inspected = { NODE_OPTIONS: '--inspect=127.0.0.1:0' } as const;

/**
 * What a process with `inspected` still holds after a collection, in MB: its objects and their buffers. What is resident says
 * less of a leak: V8 gives memory back when it likes.
 * @param output what the process wrote so far.
 */
export async function liveMb(output: string): Promise<number> {
  const url = said.exec(output)?.[1];
  if (url === undefined) throw new Error('the process has no inspector');
  const socket = new WebSocket(url);
  const signal = AbortSignal.timeout(patienceMs);
  // A debugger that stays would keep the process from ending.
  try {
    await once(socket, 'open', { signal });
    const ask = async (id: number, method: string): Promise<unknown> => {
      const answered = once(socket, 'message', { signal });
      socket.send(JSON.stringify({ id, method }));
      const [event] = await answered;
      if (!(event instanceof MessageEvent)) throw new Error('the inspector said nothing');
      return answer.parse(JSON.parse(String(event.data))).result;
    };
    await ask(1, 'HeapProfiler.collectGarbage');
    const { usedSize, backingStorageSize } = usage.parse(await ask(2, 'Runtime.getHeapUsage'));
    return (usedSize + backingStorageSize) / 2 ** 20;
  } finally {
    socket.close();
  }
}
