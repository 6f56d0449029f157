import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import generic from '../../plugins/alerts-generic/index.ts';
import { mostAlerts } from '../../src/contract/alerts/index.ts';
import { alertRules } from '../../src/contract/storage/index.ts';
import { loadConfig } from '../../src/gateway/config/load.ts';
import { limits } from '../../src/incidents/alerts/receiver.ts';
import { alertInput } from '../support/alerts.ts';
import { removeDirectory, root, sightline, temporaryDirectory } from '../support/gateway.ts';

/* The first part of docs/alerts.md, followed as it is written. */

const guide = await readFile(join(root, 'docs/alerts.md'), 'utf8');

let directory = '';
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => removeDirectory(directory));

it('the commands of the guide to alerts do what it says', async () => {
  const [, block = ''] = /```sh\n(.*?)```/s.exec(guide) ?? [];
  const commands = block.trim().split('\n');
  expect(commands).toHaveLength(4);
  expect((await sightline(directory, ['org', 'create', 'acme'])).code).toBe(0);
  const printed: string[] = [];
  for (const command of commands) {
    const [name, ...args] = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    expect(name).toBe('sightline');
    const { code, stdout, stderr } = await sightline(directory, args);
    expect([code, stderr]).toEqual([0, '']);
    printed.push(stdout);
  }
  const [added = '', listed = '', rotated = ''] = printed;
  const secretIn = (text: string): string => /^secret {3}(als_\S+)$/m.exec(text)?.[1] ?? '';
  expect(secretIn(added)).not.toBe('');
  expect(added).toMatch(/^address {2}http:\/\/127\.0\.0\.1:\d+\/alerts\/als_/m);
  expect(added.split(secretIn(added)).length).toBeGreaterThan(2);
  expect(listed).toContain('Alertmanager prod');
  expect(listed).not.toContain(secretIn(added));
  expect(secretIn(rotated)).not.toBe(secretIn(added));
  expect((await sightline(directory, ['alert-source', 'list'])).stdout).toContain('There is no alert source yet');
});

it('the guide to alerts says the bounds that hold', () => {
  const minutes = (milliseconds: number): number => milliseconds / 60_000;
  for (const said of [
    `opened in the last ${minutes(alertRules.windowMs)} minutes`,
    `fires again within ${minutes(alertRules.holdMs)} minutes`,
    `at most ${alertRules.incidents} incidents`,
    `At most ${alertRules.investigations} investigations`,
    `larger than ${limits.bodyBytes / 1024 / 1024} MiB`,
    `first ${mostAlerts.toLocaleString('en')} alerts`,
    `${limits.requests.perMinute.toLocaleString('en')} requests a minute`,
  ]) {
    expect(guide.replaceAll(/\s+/g, ' ')).toContain(said);
  }
});

it('the guide to alerts has a mapping that the config takes, and that reads what it says', async () => {
  const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(guide.split('\n## Senders of your own\n')[1] ?? '') ?? [];
  const file = join(directory, 'mappings.yaml');
  await writeFile(file, yaml);
  const { config } = await loadConfig({ file, cwd: directory, env: {}, overrides: {} });
  const [{ plugin, ...own } = { plugin: '' }] = config.alerts;
  expect(plugin).toBe('generic');
  const jobs = [{ name: 'dump', result: 'broken', grade: 'a', owner: 'ledger' }];
  expect(alertInput(generic, own).normalize({ run: { id: 1 }, jobs })).toMatchObject([
    { title: 'dump', status: 'firing', severity: 'critical', services: ['ledger'] },
  ]);
});
