import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { cannotBeMade } from '../src/cli/examination.ts';
import { SightlineError } from '../src/contract/core/index.ts';
import { checkConfig } from '../src/gateway/wiring/config.ts';
import { brokenConfigs, secret } from './support/broken-configs.ts';
import { removeDirectory, sightline, temporaryDirectory } from './support/gateway.ts';

/** By what the command line says, with its hint, and by what the log would show of the error and its causes. */
async function outcome(file: string): Promise<{ readonly said: string; readonly hint: string; readonly all: string }> {
  try {
    await checkConfig({ config: file });
  } catch (error) {
    if (!(error instanceof SightlineError)) throw error;
    return { said: error.message, hint: error.hint ?? '', all: inspect(error, { depth: 20, showHidden: true }) };
  }
  throw new Error(`${file} was found valid`);
}

describe('a broken config', () => {
  let directory = '';
  let count = 0;
  beforeAll(async () => {
    directory = await temporaryDirectory();
  });
  afterAll(() => removeDirectory(directory));

  async function write(text: string, format = 'yaml'): Promise<string> {
    count += 1;
    const folder = join(directory, String(count));
    await mkdir(folder);
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    const file = join(folder, `sightline.config.${format}`);
    await writeFile(file, text);
    return file;
  }

  it.each(brokenConfigs.map((config) => [config.name, config] as const))(
    'is told by place, cause and repair, without a secret: %s',
    async (_name, { text, format, says, hint = '' }) => {
      const found = await outcome(await write(text, format));
      expect(found).toMatchObject({ said: expect.stringContaining(says), hint: expect.stringContaining(hint) });
      expect(found.all).not.toContain(secret);
    },
  );

  it('is one of at least fifty, each another mistake', () => {
    expect(new Set(brokenConfigs.map(({ text }) => text)).size).toBe(brokenConfigs.length);
    expect(brokenConfigs.length).toBeGreaterThanOrEqual(50);
    expect(brokenConfigs.filter(({ text }) => text.includes(secret)).length).toBeGreaterThanOrEqual(30);
  });

  it('is one whose data directory nobody can make, which is found without making it', async () => {
    const file = await write('{}\n');
    expect(cannotBeMade(join(file, 'data', 'deep'))).toEqual({ why: `${file} is no directory`, certain: true });
    expect(cannotBeMade(join(directory, 'new', 'deep'))).toBeUndefined();
    expect(await readdir(directory)).not.toContain('new');
    const kernels = { why: '/proc belongs to the kernel (proc)', certain: true };
    expect(cannotBeMade('/proc/nope')).toEqual(
      process.platform === 'linux' ? kernels : { why: 'this user may not write to /', certain: false },
    );
  });

  it('ends the command and the start alike, with exit code 3 and the same words', async () => {
    const file = await write('listen: { prot: 8080 }\n');
    for (const command of [
      ['config', 'check'],
      ['serve', '--no-demo'],
    ]) {
      const ended = await sightline(directory, [...command, '--config', file]);
      expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('Did you mean port?') });
    }
  });
});
