import { expect, it } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import { removeDirectory, temporaryDirectory } from '../support/gateway.ts';
import { cleanEnvironment, copyCheckout } from './support/checkout.ts';

const run = promisify(execFile);

const plugin = `import { z } from 'zod';
import { alertNotice, bringsSecret } from '../../src/contract/alerts/index.ts';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';

export default definePlugin({
  kind: 'alerts',
  name: 'cron',
  apiVersion,
  configSchema: z.strictObject({ prefix: z.string().default('cron: ') }),
  create: ({ prefix }, { now }) => ({
    verify: bringsSecret,
    normalize: (body) => {
      const job = z.string().parse(body);
      return [alertNotice({ fingerprint: job, status: 'firing', title: prefix + job, severity: 'high', labels: {} }, now())];
    },
    instructions: ({ url }) => 'POST the name of the job that failed to ' + url,
  }),
});
`;

it('takes a new folder in plugins/ as an alert input, with no other edit', async () => {
  const directory = await temporaryDirectory();
  const checkout = join(directory, 'checkout');
  const main = join(checkout, 'bin', 'sightline.js');
  const data = join(directory, 'data');
  const options = { cwd: directory, env: cleanEnvironment() };
  const sightline = async (...args: string[]): Promise<string> =>
    (await run(process.execPath, [main, ...args, '--data', data], options)).stdout;
  try {
    await copyCheckout(checkout, { dependencies: true });
    await mkdir(join(checkout, 'plugins', 'alerts-cron'));
    await writeFile(join(checkout, 'plugins', 'alerts-cron', 'index.ts'), plugin);

    expect(await sightline('config', 'schema')).toContain('"const": "cron"');
    expect((await sightline('alert-source', 'add', '--help')).replaceAll(/\s+/g, ' ')).toContain('alertmanager, cron,');
    await sightline('org', 'create', 'acme');

    const gateway = spawn(process.execPath, [main, 'serve', '--no-demo', '--port', '0', '--data', data], {
      ...options,
      stdio: 'ignore',
    });
    const ended = once(gateway, 'exit');
    try {
      await ready(join(data, 'gateway.json'), () => gateway.exitCode === null);
      const source = z
        .object({ url: z.string(), secret: z.string(), instructions: z.string() })
        .parse(JSON.parse(await sightline('alert-source', 'add', '--plugin', 'cron', '--name', 'jobs', '--json')));
      expect(source.instructions).toBe(`POST the name of the job that failed to ${source.url}`);
      const answer = await fetch(source.url, {
        method: 'POST',
        headers: { authorization: `Bearer ${source.secret}`, 'content-type': 'application/json' },
        body: '"nightly backup"',
      });
      expect([answer.status, await answer.json()]).toEqual([200, { accepted: 1 }]);
      expect(await sightline('incident', 'list')).toContain('cron: nightly backup');
    } finally {
      gateway.kill('SIGTERM');
      await ended;
    }
  } finally {
    await removeDirectory(directory);
  }
});

async function ready(file: string, runs: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 1_200 && runs(); attempt += 1) {
    try {
      const { url } = z.object({ url: z.string() }).parse(JSON.parse(await readFile(file, 'utf8')));
      if ((await fetch(`${url}/readyz`)).ok) return;
    } catch {
      // Not yet.
    }
    await delay(50);
  }
  throw new Error('the gateway was not ready within a minute');
}
