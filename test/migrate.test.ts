import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import { removeDirectory, sightline, temporaryDirectory } from './support/gateway.ts';

let directory = '';
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => removeDirectory(directory));

it('migrate --plan says what would be done and makes nothing; migrate says what it did', async () => {
  const planned = await sightline(directory, ['migrate', '--plan']);
  expect(planned).toMatchObject({ code: 0, stdout: expect.stringMatching(/^To be applied: 0001-directory, .+\n$/) });
  expect((await readdir(directory)).filter((name) => name.includes('sqlite'))).toEqual([]);
  const { stdout } = await sightline(directory, ['migrate']);
  expect(stdout).toBe(planned.stdout.replace('To be applied', 'Applied'));
  for (const again of [['migrate'], ['migrate', '--plan']]) {
    expect((await sightline(directory, again)).stdout).toMatch(/^The storage is up to date \(\d{4}-/);
  }
});
