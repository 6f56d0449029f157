import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { isAbsolute, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { forms, type Form } from './form.ts';
import { filesOf } from './files.ts';

/*
 * npm run test:replicas -- FORM [PATH …]: all end-to-end tests in that form, or those whose paths contain one of these. Options
 * are Jest's: `--runInBand` where none is given.
 */

const [given, ...rest] = process.argv.slice(2);
const options = rest.filter((word) => word.startsWith('--'));
const root = fileURLToPath(new URL('../../../', import.meta.url));
const paths = rest
  .filter((word) => !word.startsWith('--'))
  .map((path) => (isAbsolute(path) ? relative(root, path) : path));
const { data: form } = z.enum(forms).safeParse(given);
const files = form === undefined ? [] : await filesOf(form);
const chosen = files.filter((file) => paths.length === 0 || paths.some((path) => file.includes(path)));
if (form === undefined) fail(`say in which form: ${forms.join(', ')}`);
else if (chosen.length === 0) fail(`the form ${form} has no test file with ${paths.join(' or ')} in its path`);
else process.exitCode = await run(form, chosen);

async function run(inForm: Form, testFiles: readonly string[]): Promise<number> {
  const jest = fileURLToPath(new URL('../../../node_modules/jest/bin/jest.js', import.meta.url));
  const command = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', jest];
  command.push(...(options.length > 0 ? options : ['--runInBand']));
  // Two of everything take longer to start; tests that say their own time keep it.
  command.push('--testTimeout', '90000', '--reporters', 'default');
  for (const reporter of ['./reporter.js', '../reporter.js']) {
    command.push('--reporters', fileURLToPath(new URL(reporter, import.meta.url)));
  }
  const child = spawn(process.execPath, [...command, '--runTestsByPath', ...testFiles], {
    stdio: 'inherit',
    env: { ...process.env, SIGHTLINE_TEST_FORM: inForm },
  });
  await once(child, 'exit');
  return child.exitCode ?? 1;
}

function fail(why: string): void {
  process.stderr.write(`error: ${why}\n`);
  process.exitCode = 2;
}
