import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { testHost } from '../../../test/contract/host.ts';
import { connectEngine } from '../engine-process.ts';
import { createRoom } from '../room.ts';

/*
 * A process that has no file left to open, as a gateway has under a flood of connections. Prints what becomes of an engine
 * that it wants to start. Argument: a folder of its own.
 */
const directory = process.argv[2] ?? '';
const { logger } = testHost(directory);
const taken: number[] = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {
  // No file is left.
}
const settings = {
  socket: join(directory, 'engine.sock'),
  file: join(directory, 'telemetry.duckdb'),
  temporary: join(directory, 'tmp'),
  memoryLimitMb: 200,
  threads: 1,
  seats: { folder: join(directory, 'seats'), count: 1 },
};
const outcome = await connectEngine({
  settings,
  addressSpaceKb: 4_000_000,
  compileCache: join(directory, 'compile-cache'),
  room: createRoom(directory, 1, () => true),
  logger,
}).then(
  () => 'started',
  (error: unknown) => (error instanceof Error ? error.message : 'refused'),
);
// What nobody listens for would end the process here.
await new Promise((resolve) => setImmediate(resolve));
for (const file of taken) closeSync(file);
console.log(outcome);
process.exit(0);
