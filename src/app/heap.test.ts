import { expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A cache of which the oldest entry makes room for each new one, many times over; prints the most that old objects took, in MB. */
const churn = `
  import { getHeapSpaceStatistics } from 'node:v8';
  if (process.argv[1] === 'small') (await import(${JSON.stringify(new URL('./heap.ts', import.meta.url).href)})).keepHeapSmall();
  const kept = new Map();
  let most = 0;
  for (let entry = 0; entry < 2_500_000; entry += 1) {
    kept.set(entry, { name: 'entry ' + entry, at: [entry, entry] });
    if (kept.size > 200_000) kept.delete(entry - 200_000);
    if (entry % 10_000 !== 0) continue;
    const old = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space');
    most = Math.max(most, old.physical_space_size / 2 ** 20);
    await new Promise((resolve) => setImmediate(resolve));
  }
  console.log(most);
`;

it('does not grow to several times what lives in it', async () => {
  const most = async (how: string): Promise<number> =>
    Number((await run(process.execPath, ['--input-type=module', '-e', churn, how])).stdout);
  const [small, usual] = [await most('small'), await most('usual')];
  expect(usual).toBeGreaterThan(0);
  expect(small).toBeLessThan(usual * 0.8);
}, 60_000);
