import { run } from '../../src/cli/index.ts';

/** Commands one after another in one process, each an argument as JSON; what they print is parted by a NUL. Ends as the last one did. */
let code = 0;
for (const command of process.argv.slice(2)) {
  const args: unknown = JSON.parse(command);
  if (!Array.isArray(args)) throw new TypeError(`no arguments: ${command}`);
  code = await run(args.map(String));
  await new Promise<void>((resolve) => process.stdout.write('\0', () => resolve()));
}
process.exit(code);
