import * as runner from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { isolationContract, type IsolationUnderTest } from '../../test/contract/isolation.ts';
import type { Telemetry } from '../../src/contract/telemetry/index.ts';
import { hostileStatements } from './support/attacks.ts';
import { Harness, newOrganization } from './support/harness.ts';

/*
 * What one organization sends must never show, count or change anything of the other, nor a file, the environment or the
 * network, nor end the gateway: with the gate, and past it, since the process boundary has to hold alone.
 */

let directory = '';
let outside = '';

async function warehouse(gated: boolean): Promise<IsolationUnderTest> {
  const canary = () => `canary-${randomBytes(9).toString('hex')}`;
  const [inFile, inEnvironment] = [canary(), canary()];
  process.env['SIGHTLINE_CANARY'] = inEnvironment;
  outside = await mkdtemp(join(tmpdir(), 'sl-outside-'));
  await writeFile(join(outside, 'secret.csv'), `secret\n${inFile}\n`);
  const harness = await Harness.start({ memoryLimitMb: 500 });
  directory = harness.directory;
  const victim = newOrganization();
  return {
    component: gated ? harness.telemetry : ungated(harness.telemetry),
    organizations: [newOrganization(), victim],
    secrets: [inFile, inEnvironment],
    bare: async (sql) => await harness.run(victim, sql).then(({ text }) => text, causes),
    cleanup: async () => {
      delete process.env['SIGHTLINE_CANARY'];
      await harness.stop();
      await rm(outside, { recursive: true, force: true });
    },
  };
}

/** The engine of an organization as whoever is past the gate meets it. */
function ungated(telemetry: Telemetry): Telemetry {
  const { dialect, sink } = telemetry;
  return {
    dialect,
    ...(sink && { sink }),
    start: (signal) => telemetry.start(signal),
    stop: () => telemetry.stop(),
    health: (signal) => telemetry.health(signal),
    parse: async (sql) => ({ tree: sql }),
    check: ({ tree }) => ({ tree, tables: [], reaches: [] }),
    render: async ({ tree }) => String(tree),
    open: (rendered, limits, context) => telemetry.open(rendered, limits, context),
  };
}

function causes(error: unknown): string {
  return error instanceof Error ? `${error.message}\n${causes(error.cause)}` : '';
}

isolationContract(runner, () => warehouse(true), {
  statements: ({ victim }) =>
    hostileStatements({
      victim,
      victimFile: join(directory, 'telemetry', victim, 'telemetry.duckdb'),
      file: join(outside, 'secret.csv'),
      directory: outside,
    }),
  layers: [{ without: 'the gate', isGate: true, make: () => warehouse(false) }],
});
