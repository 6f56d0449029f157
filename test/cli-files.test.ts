import { spawnSync } from 'node:child_process';
import { chmod, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Sandbox } from './support/cli.ts';
import { main } from './support/gateway.ts';

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

it('doctor tells another user than the gateway’s what to do', async () => {
  await box.run('org', 'create', 'Acme');
  const isRoot = process.getuid?.() === 0;
  // To root nothing is denied, so it asks as nobody.
  if (!isRoot) await chmod(box.data, 0);
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'doctor', '--data', box.data], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'] },
    encoding: 'utf8',
    ...(isRoot && { uid: 65_534, gid: 65_534 }),
  });
  if (!isRoot) await chmod(box.data, 0o700);
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
  expect(stdout).toContain(
    `FAIL  data directory  The data directory ${box.data} cannot be used: this user may not write there.`,
  );
  expect(stdout).toContain('Use it as its owner');
  expect(stdout).not.toMatch(/EACCES|master key/);
});
