import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Sandbox } from './support/cli.ts';

const guide = new URL('../docs/incidents.md', import.meta.url);

/** What an operator does with incidents on the command line, in the order of an incident's life. */
describe('sightline incident', () => {
  let box: Sandbox;
  beforeAll(async () => {
    box = await Sandbox.create();
    expect((await box.run('org', 'create', 'Acme')).code).toBe(0);
  });
  afterAll(() => box.remove());

  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await box.run('incident', ...args);
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
    return stdout;
  };
  const json = async (...args: string[]): Promise<unknown> => JSON.parse(await run(...args, '--json'));
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await box.run('incident', ...args);
    expect(code).toBeGreaterThan(0);
    return stderr;
  };

  it('lives as the guide shows, with each step written down', async () => {
    const text = await readFile(guide, 'utf8');
    const said: string[] = [];
    for (const [, line = ''] of text.matchAll(/^sightline incident (.*)$/gm)) {
      const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
      said.push(await run(...words));
    }
    const [created, changed, shown, resolved, timeline, versions] = said;
    expect([created, changed, resolved, versions]).toEqual([
      'INC-1 is open.\n',
      'INC-1 is mitigated, high, and waits on external (Stripe).\n',
      'INC-1 is resolved: fixed.\n',
      'It has no document.\n',
    ]);
    for (const fact of ['Checkout fails', 'mitigated', 'external (Stripe)', 'checkout']) expect(shown).toContain(fact);
    for (const fact of ['created', 'triage', 'external: Stripe', 'resolution']) expect(timeline).toContain(fact);
  });

  it('refuses a blank title, and an address that no member has, and names the assignee', async () => {
    for (const args of [
      ['create', ''],
      ['create', ' '],
      ['update', 'INC-1', '--title', ' '],
    ]) {
      expect(await refused(...args)).toContain('The title of an incident is blank.');
    }
    const nobody = 'nobody@acme.example';
    for (const args of [
      ['create', 'x', '--assignee', nobody],
      ['update', 'INC-1', '--assignee', nobody],
      ['update', 'INC-1', '--waiting-on', 'human', '--waiting-name', nobody],
    ]) {
      expect(await refused(...args)).toContain('No member has the address "nobody@acme.example".');
    }
    expect((await box.run('user', 'create', '--org', 'Acme', '--email', 'ada@acme.example')).code).toBe(0);
    expect(await run('create', 'Assigned', '--assignee', 'ADA@acme.example')).toBe(
      'INC-2 is open, assigned to ADA@acme.example.\n',
    );
    expect(
      await run(
        'update',
        'INC-2',
        '--assignee',
        'ada@acme.example',
        '--waiting-on',
        'external',
        '--waiting-name',
        nobody,
      ),
    ).toBe('INC-2 is triage, unknown, assigned to ada@acme.example, and waits on external (nobody@acme.example).\n');
    expect(await run('update', 'INC-2', '--assignee', '', '--waiting-on', 'none')).toBe(
      'INC-2 is triage, unknown, assigned to nobody, and waits on none.\n',
    );
  });

  it('takes and gives JSON, and ends one incident as a duplicate of another', async () => {
    const given = ['create', 'Again', '--started-at', '2026-03-01T14:00:00Z', '--assignee', 'ada@acme.example'];
    expect(await json(...given)).toMatchObject({ key: 'INC-3', severity: 'unknown', status: 'triage' });
    await run('update', 'INC-3', '--assignee', '', '--title', 'Once more');
    expect(await json('resolve', 'inc-3', '--as', 'duplicate', '--duplicate-of', 'INC-1')).toMatchObject({
      title: 'Once more',
      status: 'resolved',
      resolution: 'duplicate',
      duplicate_of: 'INC-1',
    });
    const entries = z.array(z.object({ change: z.string() })).parse(await json('timeline', 'INC-3'));
    expect(entries.map(({ change }) => change)).toEqual(['created', 'title', 'assignee', 'status', 'resolution']);
    expect(await run('list', '--severity', 'high', '--status', 'resolved')).toContain('INC-1');
  });

  it('writes a document and reads each version of it', async () => {
    await run('create', 'Slow');
    const file = join(box.directory, 'document.md');
    for (const text of ['# First', '# Second']) {
      await writeFile(file, text);
      await run('document', 'INC-4', '--write', file);
    }
    expect(await run('document', 'INC-4')).toBe('# Second\n');
    expect(await run('document', 'INC-4', '--revision', '1')).toBe('# First\n');
    expect(await json('document', 'INC-4', '--versions')).toMatchObject([{ version: 2 }, { version: 1 }]);
    expect(await refused('document', 'INC-4', '--revision', '9')).toContain('INC-4 has no such document.');
  });

  it('says what is wrong', async () => {
    expect(await refused('show', 'INC-99')).toContain('There is no incident "INC-99".');
    expect(await refused('create', 'x', '--severity', 'awful')).toContain('critical, high, medium, low, unknown');
    expect(await refused('update', 'INC-4')).toContain('Nothing was said to change.');
    expect(await refused('update', 'INC-4', '--waiting-reason', 'x')).toContain('--waiting-on');
    expect(await refused('resolve', 'INC-4')).toContain("'--as' not specified");
    expect(await refused('resolve', 'INC-4', '--as', 'duplicate')).toContain('names the incident that it repeats');
    expect(await refused('create', 'x', '--started-at', 'yesterday')).toContain('2026-03-01T14:00:00Z');
  });
});
