import { run } from '../../src/cli/index.ts';

/* Runs commands one after another in one process, each an argument as JSON. What a command prints and its exit code end with a NUL each. */
for (const command of process.argv.slice(2)) {
  const args: unknown = JSON.parse(command);
  if (!Array.isArray(args)) throw new TypeError(`no arguments: ${command}`);
  const code = await run(args.map(String));
  await new Promise<void>((resolve) => process.stdout.write(`\0${code}\0`, () => resolve()));
}
process.exit(0);
