import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { isStrangers, loadConfig } from './load.ts';

let directory = '';
beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'sightline-config-')));
  // Ends the search: a config lying further up must not reach the test.
  await writeFile(join(directory, 'package.json'), '{}');
});
afterEach(() => rm(directory, { recursive: true }));

const load = (options: { file?: string; cwd?: string; env?: NodeJS.ProcessEnv; overrides?: object } = {}) =>
  loadConfig({ cwd: directory, env: {}, overrides: {}, ...options });
const write = (name: string, text: string) => writeFile(join(directory, name), text);

describe('the config', () => {
  it('has a default for everything', async () => {
    const { config, file } = await load();
    expect(file).toBeUndefined();
    expect(config).toMatchObject({
      listen: { host: '127.0.0.1', port: 8080 },
      dataDirectory: join(directory, '.sightline'),
      storage: { plugin: 'knex' },
      issuer: { plugin: 'builtin' },
      telemetry: { plugin: 'duckdb' },
      agent: { plugin: 'playbook' },
      trustProxy: false,
    });
  });

  it.each([
    ['yaml', 'listen: { port: 9001 }'],
    ['yml', 'listen:\n  port: 9001'],
    ['json', '{"listen":{"port":9001}}'],
    ['js', 'export default { listen: { port: 9001 } }'],
  ])('is found as sightline.config.%s from a folder below', async (extension, text) => {
    await write(`sightline.config.${extension}`, text);
    const below = join(directory, 'a', 'b');
    await mkdir(below, { recursive: true });
    const { config, file } = await load({ cwd: below });
    expect(file).toBe(join(directory, `sightline.config.${extension}`));
    expect(config.listen.port).toBe(9001);
    expect(config.dataDirectory).toBe(join(directory, '.sightline'));
  });

  it.each(['js', 'yaml'])('is not taken from a folder above where anybody may write it (.%s)', async (extension) => {
    const below = join(directory, 'a');
    await mkdir(below);
    await write(
      `sightline.config.${extension}`,
      extension === 'js' ? 'globalThis.strangersCodeRan = true; export default {}' : 'storage: { plugin: ./theirs.js }',
    );
    await chmod(join(directory, `sightline.config.${extension}`), 0o666);
    await expect(load({ cwd: below })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('--config'),
    });
    expect(globalThis).not.toHaveProperty('strangersCodeRan');
    // Here, or named, it is meant.
    if (extension === 'yaml') {
      expect((await load()).config.storage.plugin).toBe('./theirs.js');
      expect((await load({ cwd: below, file: '../sightline.config.yaml' })).config.storage.plugin).toBe('./theirs.js');
    }
  });

  it("is a stranger's when neither this user nor root owns it, or when everybody may write it", () => {
    expect(isStrangers({ uid: 1000, mode: 0o100644 }, 1000)).toBe(false);
    expect(isStrangers({ uid: 0, mode: 0o100664 }, 1000)).toBe(false);
    expect(isStrangers({ uid: 1001, mode: 0o100600 }, 1000)).toBe(true);
    expect(isStrangers({ uid: 1001, mode: 0o100600 }, 0)).toBe(true);
    expect(isStrangers({ uid: 1000, mode: 0o100646 }, 1000)).toBe(true);
    // Where the system knows no owners.
    expect(isStrangers({ uid: 0, mode: 0o100666 }, undefined)).toBe(false);
  });

  it('is beaten by flags', async () => {
    await write('sightline.config.yaml', 'listen: { port: 9001 }\ndataDirectory: here');
    const { config } = await load({ overrides: { port: 0, dataDirectory: 'there' } });
    expect(config.listen.port).toBe(0);
    expect(config.dataDirectory).toBe(join(directory, 'there'));
  });

  it('names every wrong key with its path', async () => {
    await write(
      'sightline.config.yaml',
      'listen: { prot: 1 }\npublicUrl: ftp://x\nlimits: { requestsPerMinute: many }',
    );
    await expect(load()).rejects.toMatchObject({ code: 'config_invalid' });
    const message = await load().catch((error: Error) => error.message);
    expect(message).toContain('sightline.config.yaml is not valid');
    expect(message).toContain('listen.prot: there is no such key. Did you mean port?');
    expect(message).toContain('publicUrl: must be an http or https URL');
    expect(message).toContain('limits.requestsPerMinute: must be a whole number from 1');
  });

  it.each([
    ['yaml', 'storage:\n  password: hunter2\nlimits: [\n', 'line 4, column 1: deficient indentation.'],
    ['yaml', 'storage:\n\tpassword: hunter2\n', 'line 2, column 1: tab characters must not be used in indentation.'],
    ['yaml', 'storage: { password: hunter2 }\n  a: 1\n', 'line 2, column'],
    ['json', '{"password": "hunter2",}', 'line 1, column 24: Expected double-quoted property name.'],
    ['json', '{"password": hunter2}', "Unexpected token 'h'."],
  ])('says where a %s file cannot be read, and nothing that stands in it (%#)', async (extension, text, place) => {
    await write(`sightline.config.${extension}`, text);
    const error = await load().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'config_invalid', message: expect.stringContaining(place) });
    // As the log has it, with causes.
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('hunter2');
  });

  it('says what cannot be read', async () => {
    await expect(load({ file: 'absent.yaml' })).rejects.toThrow(/The config absent.yaml cannot be read/);
  });
});

describe('references in the config', () => {
  it('take the environment, a default, a file and a plain dollar', async () => {
    await write('secret', 'hunter2\n');
    await write(
      'sightline.config.yaml',
      [
        'publicUrl: "https://${env:HOST}/"',
        'listen: { port: "${env:PORT:-9002}" }',
        `storage: { plugin: knex, password: "\${file:${join(directory, 'secret')}}", other: "$\${env:HOST}" }`,
      ].join('\n'),
    );
    const { config } = await load({ env: { HOST: 'mcp.example.com' } });
    expect(config.publicUrl).toBe('https://mcp.example.com');
    expect(config.listen.port).toBe(9002);
    expect(config.storage).toEqual({ plugin: 'knex', password: 'hunter2', other: '${env:HOST}' });
  });

  it('stop the boot with the key path and the name', async () => {
    await write('sightline.config.yaml', 'storage: { connection: { password: "${env:DB_PASSWORD}" } }');
    await expect(load()).rejects.toThrow(
      'storage.connection.password: the environment variable DB_PASSWORD is not set.',
    );
    await write('sightline.config.yaml', 'log: { level: "${vault:x}" }');
    await expect(load()).rejects.toThrow('log.level: ${vault:…} is not known.');
  });

  it('are not looked for in what a reference gave', async () => {
    await write('sightline.config.yaml', 'dataDirectory: "${env:A}"');
    expect((await load({ env: { A: '${env:B}' } })).config.dataDirectory).toBe(join(directory, '${env:B}'));
  });
});

describe('governance in the config', () => {
  const rules = (...given: object[]) =>
    write('sightline.config.json', JSON.stringify({ governance: { rules: given } })).then(() => load());
  const message = (...given: object[]) => rules(...given).then(String, (error: Error) => error.message);

  it('rules columns and attributes by role', async () => {
    const given = [
      { roles: ['member', 'key'], tables: ['logs'], columns: ['body'], action: 'mask' },
      { attributes: ['http.request.header.*'], action: 'deny' },
    ];
    expect((await rules(...given)).config.governance.rules).toEqual(given);
    expect((await load()).config.governance.rules).toHaveLength(2);
  });

  it.each<[string, object, string]>([
    ['an unknown column', { columns: ['name', 'bdoy'], action: 'deny' }, 'governance.rules[0].columns[1]'],
    ['a column of another table', { tables: ['spans'], columns: ['body'], action: 'deny' }, 'no column of otel.spans'],
    ['a hash of what is no text', { columns: ['duration_nano'], action: 'hash' }, 'governance.rules[0].columns[0]'],
    ['a hash of a map', { columns: ['attributes'], action: 'hash' }, 'only text can be hashed'],
    ['time', { columns: ['time'], action: 'mask' }, 'time cannot be ruled'],
    ['what a trace is followed by', { columns: ['parent_span_id'], action: 'hash' }, 'parent_span_id cannot be ruled'],
    ['a star within a key', { attributes: ['http.*.id'], action: 'deny' }, 'governance.rules[0].attributes[0]'],
    ['an unknown role', { roles: ['owner'], columns: ['body'], action: 'deny' }, 'governance.rules[0].roles[0]'],
    ['an unknown table', { tables: ['traces'], columns: ['name'], action: 'deny' }, 'governance.rules[0].tables[0]'],
    ['an unknown action', { columns: ['body'], action: 'hide' }, 'governance.rules[0].action'],
    ['a rule of nothing', { action: 'deny' }, 'neither columns nor attributes'],
    ['roles that are none', { roles: [], columns: ['body'], action: 'deny' }, 'governance.rules[0].roles'],
    ['a typing mistake', { column: ['body'], action: 'deny' }, 'column: there is no such key. Did you mean columns?'],
  ])('refuses %s by its path', async (_, rule, said) => {
    expect(await message(rule)).toContain(said);
  });
});

describe('limits of what is read', () => {
  it('have defaults that change nothing', async () => {
    const { config } = await load();
    expect(config.limits.defaultWindowHours).toBe(24);
    expect(config.costGuard).toEqual({ mode: 'shadow' });
  });

  it.each<[unknown, number]>([
    [1000, 1000],
    ['1000', 1000],
    ['50GB', 50e9],
    ['1.5 TiB', 1.5 * 2 ** 40],
    ['20 kb', 20_000],
    ['1 B', 1],
    ['${env:LIMIT}', 7e12],
  ])('take a size as %j', async (written, bytes) => {
    await write(
      'sightline.config.json',
      JSON.stringify({ costGuard: { maxQueryBytes: written, dailyBytes: written } }),
    );
    const { config } = await load({ env: { LIMIT: '7TB' } });
    expect(config.costGuard).toEqual({ mode: 'shadow', maxQueryBytes: bytes, dailyBytes: bytes });
  });

  it.each([0, -1, '', '0GB', '-5GB', '5 XB', '1e9', '2000TB', '9'.repeat(400), '5GB; DROP', 1e16, null])(
    'refuse %j as a size',
    async (written) => {
      await write('sightline.config.json', JSON.stringify({ costGuard: { dailyBytes: written } }));
      await expect(load()).rejects.toThrow('costGuard.dailyBytes');
    },
  );

  it.each([0, 8761, 1.5, 'long'])('refuse %j hours as the default window', async (hours) => {
    await write('sightline.config.json', JSON.stringify({ limits: { defaultWindowHours: hours } }));
    await expect(load()).rejects.toThrow('limits.defaultWindowHours');
  });
});
