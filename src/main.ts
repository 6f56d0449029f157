import { run } from './cli/index.ts';

// The reader of a pipe may leave early (`sightline key list | head -1`); that is not an error of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const code = await run(process.argv.slice(2));
await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
process.exit(code);
