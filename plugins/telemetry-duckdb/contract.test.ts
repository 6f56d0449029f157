import * as runner from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { telemetryContract } from '../../src/contract-tests/telemetry.ts';
import { createTelemetry, newOrganization } from './support/harness.ts';

telemetryContract(runner, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sl-duck-'));
  return {
    component: createTelemetry(directory),
    organizations: [newOrganization(), newOrganization()],
    sql: {
      slow: 'SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = 7',
      manyRows: 'SELECT range FROM range(100000)',
      longText: "SELECT repeat('añ😀\"', 50000)",
    },
    cleanup: () => rm(directory, { recursive: true, force: true }),
  };
});
