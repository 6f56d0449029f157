import * as runner from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { telemetryContract } from '../../test/contract/telemetry.ts';
import { legitimateContract } from '../../test/contract/telemetry/legitimate.ts';
import type { WarehouseUnderTest } from '../../test/contract/telemetry/warehouse.ts';
import { createTelemetry, newOrganization } from './support/harness.ts';
import { legitimate } from './support/legitimate.ts';

async function warehouse(): Promise<WarehouseUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), 'sl-duck-'));
  return {
    component: createTelemetry(directory),
    organizations: [newOrganization(), newOrganization()],
    cleanup: () => rm(directory, { recursive: true, force: true }),
  };
}

telemetryContract(runner, async () => ({
  ...(await warehouse()),
  sql: {
    slow: 'SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = 7',
    manyRows: 'SELECT range FROM range(100000)',
    longText: "SELECT repeat('añ😀\"', 50000)",
    bounded: [
      {
        sql: "SELECT name FROM otel.spans WHERE time > now() - INTERVAL '1 hour' AND kind = 'SERVER'",
        reaches: [{ start: { fromNowMs: -3_600_000 } }],
      },
      {
        sql: "SELECT s.name FROM otel.spans s JOIN otel.logs l ON l.time >= TIMESTAMP '2026-01-01' WHERE s.time < '2026-01-02'",
        reaches: [{ end: { at: new Date('2026-01-02') } }, { start: { at: new Date('2026-01-01') } }],
      },
      { sql: "SELECT name FROM otel.spans WHERE time > '2026-01-01' OR name = 'x'", reaches: [{}] },
    ],
  },
}));

legitimateContract(runner, warehouse, legitimate);
