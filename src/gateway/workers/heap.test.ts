import { expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { nodeOptions } from '../../../test/support/start-command.ts';

const run = promisify(execFile);

/**
 * A cache of which the oldest entry makes room for each new one, many times over; prints the most that old objects took, and that
 * was kept for young ones, in MB.
 */
const churn = `
  import { getHeapSpaceStatistics } from 'node:v8';
  if (process.argv[1] === 'small') (await import(${JSON.stringify(new URL('./primary.ts', import.meta.url).href)})).keepHeapSmall();
  const kept = new Map();
  const most = { old: 0, young: 0 };
  for (let entry = 0; entry < 2_500_000; entry += 1) {
    kept.set(entry, { name: 'entry ' + entry, at: [entry, entry] });
    if (kept.size > 200_000) kept.delete(entry - 200_000);
    if (entry % 10_000 !== 0) continue;
    const spaces = new Map(getHeapSpaceStatistics().map((space) => [space.space_name, space]));
    most.old = Math.max(most.old, spaces.get('old_space').physical_space_size / 2 ** 20);
    most.young = Math.max(most.young, spaces.get('new_space').space_size / 2 ** 20);
    await new Promise((resolve) => setImmediate(resolve));
  }
  console.log(JSON.stringify(most));
`;

interface Most {
  readonly old: number;
  readonly young: number;
}

async function mostOf(options: readonly string[], how: 'small' | 'usual'): Promise<Most> {
  const { stdout } = await run(process.execPath, [...options, '--input-type=module', '-e', churn, how]);
  return JSON.parse(stdout);
}

it('does not grow to several times what lives in it', async () => {
  const [small, usual] = [await mostOf([], 'small'), await mostOf([], 'usual')];
  expect(usual.old).toBeGreaterThan(0);
  expect(small.old).toBeLessThan(usual.old * 0.8);
});

it('keeps for young objects, as npm start runs it, a part of what Node alone keeps', async () => {
  const [small, usual] = [await mostOf(nodeOptions, 'small'), await mostOf([], 'small')];
  // Two halves of 16 MB, and for moments the pages that a collection fills beside them.
  expect(small.young).toBeGreaterThan(16);
  expect(small.young).toBeLessThan(usual.young / 2);
});

it('takes nothing that each request makes for what lives long, as V8 now and then would', async () => {
  const decided = async (program: string): Promise<boolean> => {
    const options = ['--trace-pretenuring-statistics', '--max-semi-space-size=1'];
    const file = fileURLToPath(new URL(`../../../${program}`, import.meta.url));
    const { stdout } = await run(process.execPath, [...options, file, 'serve', '--help']);
    return stdout.includes('pretenuring:');
  };
  expect(await decided('src/main.ts')).toBe(true);
  expect(await decided('bin/sightline.js')).toBe(false);
});
