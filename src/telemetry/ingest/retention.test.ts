import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { Harness } from '../../../plugins/telemetry-duckdb/support/harness.ts';
import { newId } from '../../contract/core/index.ts';
import { silent, until } from '../../../test/support/otlp/gateway.ts';
import { Retention } from './retention.ts';

const day = 24 * 3600_000;
const real = Date.UTC(2026, 10, 26);

/** What runs by these clocks have deleted, one after the other, of rows of so many days ago in the real engine; and what they say. */
async function run(ages: readonly number[], clocks: readonly number[]) {
  const harness = await Harness.start();
  const { sink } = harness.telemetry;
  if (sink === undefined) throw new Error('no sink');
  const id = newId('org');
  await harness.load(
    id,
    'logs',
    ages.map((age) => ({ time: new Date(real - age * day), body: `${age}` })),
  );
  const said: { readonly message: string; readonly fields: unknown }[] = [];
  const note = (fields: unknown, message?: string) => said.push({ message: message ?? '', fields });
  const deleted: number[] = [];
  try {
    for (const clock of clocks) {
      let done = false;
      const retention = new Retention({
        sink: {
          committed: (...args) => sink.committed(...args),
          load: (...args) => sink.load(...args),
          newest: async (...args) => sink.newest?.(...args),
          retain: (...args) => sink.retain(...args).finally(() => (done = true)),
        },
        directory: { organizations: async () => [{ id, name: 'acme', createdAt: new Date(0) }] },
        days: () => 30,
        file: join(harness.directory, 'retention.json'),
        now: () => new Date(clock),
        logger: { ...silent, info: note, warn: note },
      });
      retention.start();
      await until(() => done, 'a run');
      await retention.stop();
      const [[left] = []] = (await harness.query(id, 'SELECT count(*) FROM otel.logs')).rows;
      deleted.push(ages.length - Number(left));
    }
  } finally {
    await harness.stop();
  }
  return { deleted, said };
}

describe('retention', () => {
  it('deletes what is older, and says how much, of whom and before when', async () => {
    const { deleted, said } = await run([0, 29, 31, 40], [real]);
    expect(deleted).toEqual([2]);
    expect(said).toEqual([
      {
        message: 'old telemetry was deleted',
        fields: { organization: expect.stringMatching(/^org_/), deleted: 2, olderThan: new Date(real - 30 * day) },
      },
    ]);
  });

  it('does not trust a clock that jumped ahead, however often it is started with it, and says so', async () => {
    const { deleted, said } = await run([0, 5, 29], [real, real + 40 * day, real + 40 * day, real + 41 * day]);
    expect(deleted).toEqual([0, 0, 0, 0]);
    expect(said.map(({ message }) => message)).toEqual(Array(3).fill(expect.stringContaining('check the clock')));
  });

  it('goes on deleting where nothing is sent any more, by the time of the last run', async () => {
    const { deleted, said } = await run([25, 29], [real, real + day, real + 2 * day]);
    expect(deleted).toEqual([0, 0, 0]);
    expect(said.map(({ message }) => message)).toHaveLength(3);
    const running = await run([0, 29.5], [real, real + 0.9 * day, real + 1.8 * day]);
    expect(running.deleted).toEqual([0, 1, 1]);
  });

  it('by a clock that is behind deletes less, and nothing more once it is right', async () => {
    expect((await run([0, 29, 31], [real - 3 * day, real])).deleted).toEqual([0, 1]);
  });
});
