import { run } from './cli/index.ts';

// The reader of a pipe may leave early (`sightline key list | head -1`); that is no failure, and must not end a gateway.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const code = await run(process.argv.slice(2));
await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
process.exit(code);
