import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { runNode } from './support/run.ts';

/* A minute of npm run soak. Whether memory grows is judged by its hour alone: a minute is all warm-up. */

const seconds = 60;
const mostMs = 600_000;

const course = z.object({ begin: z.number(), end: z.number(), highest: z.number() });
const reported = z.object({
  seconds: z.number(),
  organizations: z.number(),
  tokens: z.number(),
  counts: z.record(z.string(), z.number()),
  engines: course,
  failures: z.array(z.unknown()),
  broken: z.array(z.string()),
});

describe('a minute of mixed load at seven tenths of what one gateway can answer', () => {
  let report: z.output<typeof reported>;

  beforeAll(async () => {
    const ran = await runNode(['bench/soak.ts', '--seconds', String(seconds), '--json'], {}, mostMs);
    if (ran.stdout === '') throw new Error(`soak said nothing: ${ran.stderr}`);
    report = reported.parse(JSON.parse(ran.stdout));
  }, mostMs + 10_000);

  it('fails no request and leaves neither handles nor connections behind', () => {
    expect(report).toMatchObject({ failures: [], broken: [] });
  });

  it('is of 500 organizations with 10,000 tokens on 16 engines at most', () => {
    expect(report).toMatchObject({ seconds, organizations: 500, tokens: 10_000 });
    expect(report.engines.highest).toBeGreaterThan(1);
    expect(report.engines.highest).toBeLessThanOrEqual(16);
  });

  it('has requests of each kind', () => {
    const kinds = ['OTLP', 'chat', 'list_incidents', 'page', 'query_otel', 'token'];
    expect(Object.keys(report.counts).toSorted()).toEqual(kinds);
    expect(Object.values(report.counts).every((count) => count > 0)).toBe(true);
  });
});
