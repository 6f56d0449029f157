import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SightlineError, type OrganizationId } from '../../src/contract/index.ts';
import { admitted, refused, sideEffects, type Targets } from './support/attacks.ts';
import { Harness, newOrganization, type Answer } from './support/harness.ts';

/*
 * Two organizations on one gateway. What one of them sends must never show, count or change anything of the other, nor a
 * file, the environment or the network, nor end the gateway: with the gate, and past it, since the process boundary has
 * to hold alone.
 */

const canary = () => `canary-${randomBytes(9).toString('hex')}`;
const rowCanary = canary();
const fileCanary = canary();
const environmentCanary = canary();
/** A count that nothing else has. */
const victimRows = 1_237;
const quick = { maxRows: 50, maxBytes: 200_000, timeoutMs: 400 };

let harness: Harness;
let attacker: OrganizationId;
let victim: OrganizationId;
let outside: string;
let targets: Targets;

beforeAll(async () => {
  process.env['SIGHTLINE_CANARY'] = environmentCanary;
  outside = await mkdtemp(join(tmpdir(), 'sl-outside-'));
  await writeFile(join(outside, 'secret.csv'), `secret\n${fileCanary}\n`);
  harness = await Harness.start({ memoryLimitMb: 500 });
  attacker = newOrganization();
  victim = newOrganization();
  const time = new Date();
  const secret = { time, start_time: time, end_time: time, name: rowCanary, service_name: rowCanary };
  await harness.load(
    victim,
    'spans',
    Array.from({ length: victimRows }, () => ({ ...secret, attributes: { secret: rowCanary } })),
  );
  await harness.load(victim, 'logs', [{ ...secret, body: rowCanary }]);
  await harness.load(attacker, 'spans', [{ ...secret, name: 'own', service_name: 'own' }]);
  await harness.load(attacker, 'logs', [{ ...secret, body: 'own', service_name: 'own' }]);
  targets = {
    victim,
    victimFile: join(harness.directory, 'telemetry', victim, 'telemetry.duckdb'),
    file: join(outside, 'secret.csv'),
    directory: outside,
  };
}, 60_000);

afterAll(async () => {
  delete process.env['SIGHTLINE_CANARY'];
  await harness.stop();
  await rm(outside, { recursive: true, force: true });
});

/** Everything that comes back, the parts that only the log gets too. */
function everything(outcome: Answer | Error): string {
  if (!(outcome instanceof Error)) return JSON.stringify(outcome.columns) + outcome.text;
  const error = outcome instanceof SightlineError ? outcome : undefined;
  const cause = outcome.cause instanceof Error ? everything(outcome.cause) : '';
  return [outcome.message, error?.hint, JSON.stringify(error?.retry ?? {}), cause].join('\n');
}

async function attempt(work: Promise<Answer>): Promise<Answer | Error> {
  try {
    return await work;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function findings(sql: string, outcome: Answer | Error): string[] {
  const text = everything(outcome);
  return [rowCanary, fileCanary, environmentCanary, `"${victimRows}"`]
    .filter((secret) => text.includes(secret) && !sql.includes(secret))
    .map((secret) => `${sql.slice(0, 200)} → ${secret}`);
}

/** The positive control: the owner reads what the attacker must not. */
async function expectVictimWhole(): Promise<void> {
  const spans = await harness.query(
    victim,
    `SELECT count(*), count(*) FILTER (WHERE name = '${rowCanary}' AND attributes['secret'] = '${rowCanary}') FROM otel.spans`,
  );
  expect(spans.rows).toEqual([[String(victimRows), String(victimRows)]]);
  const logs = await harness.query(victim, 'SELECT body FROM otel.logs');
  expect(logs.rows).toEqual([[rowCanary]]);
}

describe('hostile statements', () => {
  it('are at least 150, and the rows that they are after are there for their owner', async () => {
    expect(refused(targets).length + sideEffects.length + admitted(targets).length).toBeGreaterThanOrEqual(150);
    await expectVictimWhole();
  });

  it('are refused by the gate with a code, a sentence and a hint, before anything runs', async () => {
    const wrong: string[] = [];
    for (const sql of [...refused(targets), ...sideEffects]) {
      const outcome = await attempt(harness.query(attacker, sql, { limits: quick }));
      wrong.push(...findings(sql, outcome));
      if (!(outcome instanceof SightlineError)) wrong.push(`not refused: ${sql.slice(0, 200)}`);
      else if (!/^(sql_|unknown_)/.test(outcome.code)) wrong.push(`${outcome.code}: ${sql.slice(0, 200)}`);
      else if (outcome.code === 'sql_refused' && !outcome.hint) wrong.push(`no hint: ${sql.slice(0, 200)}`);
    }
    expect(wrong).toEqual([]);
    await expectVictimWhole();
  }, 60_000);

  it('find nothing of anybody else where the gate lets them through', async () => {
    const wrong: string[] = [];
    for (const sql of admitted(targets)) {
      const outcome = await attempt(harness.query(attacker, sql, { limits: quick }));
      wrong.push(...findings(sql, outcome));
      if (outcome instanceof Error && !(outcome instanceof SightlineError)) wrong.push(`${String(outcome)}: ${sql}`);
    }
    expect(wrong).toEqual([]);
    await expectVictimWhole();
  }, 180_000);

  it('find nothing of anybody else past the gate either: the process boundary holds by itself', async () => {
    const wrong: string[] = [];
    for (const sql of refused(targets)) {
      const outcome = await attempt(harness.run(attacker, sql, { limits: quick }));
      wrong.push(...findings(sql, outcome));
    }
    expect(wrong).toEqual([]);
    await expectVictimWhole();
    const own = await harness.query(attacker, 'SELECT name FROM otel.spans');
    expect(own.rows).toEqual([['own']]);
  }, 180_000);
});
