import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Sandbox } from './support/cli.ts';

let box: Sandbox;
beforeEach(async () => {
  box = await Sandbox.create();
});
afterEach(() => box.remove());

it('the command line keeps only a hash of a secret, in files that are private', async () => {
  await box.run('org', 'create', 'Acme');
  const { stdout } = await box.run('key', 'create', '--org', 'Acme', '--name', 'ci', '--scopes', 'all', '--json');
  const { client_id: id, client_secret: secret } = z
    .object({ client_id: z.string(), client_secret: z.string() })
    .parse(JSON.parse(stdout));
  const stored = await readFile(join(box.data, 'sightline.sqlite'));
  expect([stored.includes(id), stored.includes(secret)]).toEqual([true, false]);
  expect((await stat(box.data)).mode & 0o777).toBe(0o700);
  expect((await stat(join(box.data, 'master.key'))).mode & 0o777).toBe(0o600);
});
