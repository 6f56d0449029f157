import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareDirectory } from './data-directory.ts';
import { resolveSettings } from './settings.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sightline-data-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('the data directory', () => {
  it('is made with its parents, for its owner alone', async () => {
    const path = join(directory, 'a', 'b');
    prepareDirectory(path);
    prepareDirectory(path);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  it('is refused in one sentence when it is a file or lies below one', async () => {
    const file = join(directory, 'file');
    await writeFile(file, '');
    expect(() => prepareDirectory(file)).toThrow(`The data directory ${file} cannot be used: it is a file.`);
    expect(() => prepareDirectory(join(file, 'x'))).toThrow('a part of the path is a file');
  });

  it('is refused where none can be made', () => {
    expect(() => prepareDirectory('/proc/nope')).toThrow('it cannot be made there');
  });
});

describe('the settings', () => {
  it('take a flag before the environment', () => {
    const env = { SIGHTLINE_DATA: '/a', SIGHTLINE_PORT: '1', SIGHTLINE_CONFIG: 'c' };
    expect(resolveSettings({ data: '/b', port: 0 }, env)).toEqual({ data: '/b', port: 0, config: 'c' });
    expect(resolveSettings({}, {})).toEqual({ data: undefined, port: undefined, config: undefined });
  });

  it.each(['many', '-1', '65536', '1.5'])('refuse SIGHTLINE_PORT=%s by name', (SIGHTLINE_PORT) => {
    expect(() => resolveSettings({}, { SIGHTLINE_PORT })).toThrow(
      'The environment variable SIGHTLINE_PORT is not valid.',
    );
  });
});
