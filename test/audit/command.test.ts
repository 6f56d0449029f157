import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { loadConfig } from '../../src/gateway/config/load.ts';
import { Sandbox } from '../support/cli.ts';

describe('sightline audit', () => {
  let sandbox: Sandbox;
  let exported: string;
  beforeAll(async () => {
    sandbox = await Sandbox.create();
    exported = join(sandbox.directory, 'audit.jsonl');
    for (const args of [
      ['org', 'create', 'acme'],
      ['org', 'create', 'other'],
      ['key', 'create', '--org', 'acme', '--name', 'one', '--scopes', 'all'],
      ['key', 'create', '--org', 'acme', '--name', 'two', '--scopes', 'all'],
      ['key', 'create', '--org', 'other', '--name', 'three', '--scopes', 'all'],
    ]) {
      expect(await sandbox.run(...args)).toMatchObject({ code: 0 });
    }
  });
  afterAll(() => sandbox.remove());

  const verify = async (...args: string[]) => {
    const { code, stdout } = await sandbox.run('audit', 'verify', '--json', ...args);
    const shape = z.looseObject({
      ok: z.boolean(),
      records: z.number(),
      problems: z.array(z.object({ what: z.string() })),
    });
    return { code, ...shape.parse(JSON.parse(stdout)) };
  };

  it('verifies the storage and says it in words and in JSON', async () => {
    const { code, stdout } = await sandbox.run('audit', 'verify');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ok {2}\d+ records in \d+ chains\.\n$/)]);
    const whole = await verify();
    expect(whole).toMatchObject({ code: 0, ok: true, problems: [] });
    expect((await verify('--org', 'other')).records).toBeLessThan(whole.records);
  });

  it('exports what is asked for, which verifies without the storage', async () => {
    expect(await sandbox.run('audit', 'export', exported, '--org', 'acme')).toMatchObject({ code: 0 });
    const lines = (await readFile(exported, 'utf8')).trimEnd().split('\n');
    const records = lines.filter((line) => line.startsWith('{"type":"record"'));
    expect(records.filter((line) => line.includes('"event":"key.created"'))).toHaveLength(2);
    expect(await verify(exported)).toMatchObject({ code: 0, ok: true, records: records.length });
    const none = await sandbox.run('audit', 'export', '--to', '2020-01-01');
    expect([none.code, none.stdout.includes('"type":"record"'), none.stdout.includes('"records":0')]).toEqual([
      0,
      false,
      true,
    ]);
    expect(await sandbox.run('audit', 'export', exported)).toMatchObject({ code: 2 });
  });

  it('finds each change of an exported file', async () => {
    const lines = (await readFile(exported, 'utf8')).trimEnd().split('\n');
    const at = lines.findIndex((line) => line.startsWith('{"type":"record"'));
    const changed: Readonly<Record<string, readonly string[]>> = {
      'a field': lines.map((line, index) => (index === at ? line.replace('"outcome":"ok"', '"outcome":"no"') : line)),
      'a line less': lines.toSpliced(at, 1),
      'two swapped': lines.toSpliced(at, 0, ...lines.slice(at + 1, at + 3)),
      'the end cut off': lines.slice(0, -1),
      'one that is none': lines.toSpliced(at, 0, 'nothing'),
    };
    const file = join(sandbox.directory, 'changed.jsonl');
    for (const [what, content] of Object.entries(changed)) {
      await writeFile(file, `${content.join('\n')}\n`);
      expect([what, await verify(file)]).toEqual([what, expect.objectContaining({ code: 1, ok: false })]);
    }
    await writeFile(file, 'nothing\n');
    expect(await sandbox.run('audit', 'verify', file)).toMatchObject({ code: 2 });
  });

  it('tells with the heads of an earlier verification what was taken away since', async () => {
    const before = join(sandbox.directory, 'heads.json');
    await writeFile(before, (await sandbox.run('audit', 'verify', '--json')).stdout);
    expect(await verify('--since', before)).toMatchObject({ code: 0, ok: true });
    const heads = z.looseObject({ heads: z.array(z.looseObject({ seq: z.number() })) });
    const told = heads.parse(JSON.parse(await readFile(before, 'utf8')));
    const later = { heads: told.heads.map((head) => Object.assign(head, { seq: head.seq + 1 })) };
    await writeFile(before, JSON.stringify(later));
    expect(await verify('--since', before)).toMatchObject({ code: 1, ok: false });
    await appendFile(before, 'x');
    expect(await sandbox.run('audit', 'verify', '--since', before)).toMatchObject({ code: 2 });
  });

  it('does what docs/audit.md says, and its configuration is one', async () => {
    const page = await readFile(new URL('../../docs/audit.md', import.meta.url), 'utf8');
    const [config = ''] = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text]) => text);
    const file = join(sandbox.directory, 'documented.yaml');
    await writeFile(file, config);
    expect((await loadConfig({ file, cwd: sandbox.directory, env: {}, overrides: {} })).config.audit).toEqual({
      statements: true,
    });
    const commands = [...page.matchAll(/^sightline (.+)$/gm)].map(([, command = '']) => command);
    expect(commands.length).toBeGreaterThan(3);
    for (const command of commands) {
      const [line = '', target] = command.split(' > ');
      const words = line
        .split(' ')
        .map((word) => (/\.jsonl?$/.test(word) ? join(sandbox.directory, `said-${word}`) : word));
      const { code, stdout, stderr } = await sandbox.run(...words);
      expect([command, code, stderr]).toEqual([command, 0, '']);
      if (target !== undefined) await writeFile(join(sandbox.directory, `said-${target}`), stdout);
    }
  });
});
