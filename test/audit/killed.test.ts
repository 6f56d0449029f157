import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import plugin from '../../plugins/storage-knex/index.ts';
import { testHost, testVault } from '../contract/host.ts';
import { toId } from '../../src/contract/core/index.ts';
import { soon, verified } from './support/store.ts';

const script = fileURLToPath(new URL('./support/writer.ts', import.meta.url));

it('is right after two gateways were killed while they wrote, and has what was acknowledged', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sl-audit-killed-'));
  const key = randomBytes(32);
  const told = await Promise.all(
    [3, 7].map(async (acknowledged) => {
      const child = spawn(process.execPath, [script, directory, key.toString('hex')], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const exited = once(child, 'exit');
      const lines: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        lines.push(line);
        if (lines.length === acknowledged + 1) child.kill('SIGKILL');
      }
      await exited;
      return lines;
    }),
  );
  const vault = testVault(key);
  const storage = plugin.create(plugin.configSchema.parse({}), testHost(directory, { vault }));
  await storage.start(soon());
  for (const [organization, ...acknowledged] of told) {
    const id = toId('org', organization);
    const found = await verified(storage, vault, id);
    expect(found).toMatchObject({ chains: 1, problems: [] });
    expect(found.records).toBeGreaterThanOrEqual(acknowledged.length);
  }
  await storage.stop();
  await rm(directory, { recursive: true });
}, 120_000);
