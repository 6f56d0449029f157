import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { testHost } from '../../../test/contract/host.ts';
import { storageContract } from '../../../test/contract/storage.ts';
import plugin from '../index.ts';
import { KnexStorage } from '../storage.ts';
import { sqlite } from './dialect.ts';
import { WriterManner } from './manner.ts';

/** A store that writes on a thread from the start, as one does that writes much. */
storageContract({ describe, it, expect, beforeAll, afterAll, beforeEach, afterEach }, async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'sightline-threaded-'));
  const config = plugin.configSchema.parse({});
  return {
    open: (overrides) =>
      new KnexStorage(
        sqlite(join(dataDirectory, 'sightline.sqlite'), new WriterManner(true)),
        testHost(dataDirectory, overrides),
      ),
    process: { module: new URL('../index.ts', import.meta.url).href, config, dataDirectory },
    cleanup: () => rm(dataDirectory, { recursive: true }),
  };
});
