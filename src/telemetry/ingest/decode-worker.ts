import { parentPort } from 'node:worker_threads';
import type { DecodeJob } from './decode-pool.ts';
import { decodeRequest } from './decode.ts';

parentPort?.on('message', ({ signal, encoding, body, nowMs, oldestMs }: DecodeJob) => {
  const decoded = decodeRequest(signal, encoding, body, nowMs, oldestMs);
  parentPort?.postMessage(decoded, decoded.ok ? decoded.batches.map(({ frame }) => frame.buffer) : []);
});
