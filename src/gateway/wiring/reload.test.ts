import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../process/logger.ts';
import { createLiveConfig } from './reload.ts';
import { loadSettings } from './settings.ts';

describe('a config that is read anew', () => {
  let directory = '';
  let config = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sl-reload-'));
    config = join(directory, 'sightline.config.yaml');
    await writeFile(config, 'governance: { rules: [{ columns: [body], action: deny }] }');
  });
  afterEach(() => rm(directory, { recursive: true }));

  it.each([
    ['is empty, as one that is being written', (file: string) => writeFile(file, '')],
    ['is gone', (file: string) => rm(file)],
  ])('is not taken where the file %s: the rules stay', async (_, spoil) => {
    const loaded = await loadSettings({ config, data: directory });
    for (const settings of [{ config, data: directory }, { data: directory }]) {
      const live = createLiveConfig(settings, loaded, createLogger({ level: 'silent' }));
      await spoil(config);
      expect(await live.reload()).toBe(false);
      expect(live.config.governance.rules).toHaveLength(1);
      await writeFile(config, 'governance: { rules: [] }');
    }
  });
});
