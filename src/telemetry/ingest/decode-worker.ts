import { parentPort } from 'node:worker_threads';
import type { DecodeJob, DecodeReply } from './decode-pool.ts';
import { decodeRequest } from './decode.ts';

parentPort?.on('message', ({ id, signal, encoding, body, nowMs, oldestMs }: DecodeJob) => {
  const decoded = decodeRequest(signal, encoding, body, nowMs, oldestMs);
  const reply: DecodeReply = { id, decoded };
  parentPort?.postMessage(reply, decoded.ok ? decoded.batches.map(({ frame }) => frame.buffer) : []);
});
