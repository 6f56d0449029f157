import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId, SightlineError, type Logger, type OrganizationId } from '../../contract/core/index.ts';
import type { ScanRepository } from '../../contract/storage/index.ts';
import type { StatementContext } from '../../contract/telemetry/index.ts';
import { createCostGuard, type CostGuard, type CostLimits } from './cost-guard.ts';

const acme = newId('org');
const globex = newId('org');
const gigabyte = 1e9;

let time = Date.parse('2026-03-01T22:00:00Z');
let used: Map<string, number>;
let log: { readonly fields: object; readonly message: string }[];
let estimates: string[];
beforeEach(() => {
  time = Date.parse('2026-03-01T22:00:00Z');
  used = new Map();
  log = [];
  estimates = [];
});

const logger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (fields, message) => void log.push({ fields, message }),
  error: () => {},
  child: () => logger,
};

/** What a storage promises; the real one is held to it by the storage contract. */
const scans = (organizationId: OrganizationId): ScanRepository => ({
  async add(day, bytes) {
    const total = Math.max(0, (used.get(`${organizationId} ${day}`) ?? 0) + bytes);
    used.set(`${organizationId} ${day}`, total);
    return total;
  },
  total: async (day) => used.get(`${organizationId} ${day}`) ?? 0,
});
const usedBy = (organizationId: OrganizationId, day = '2026-03-01') => used.get(`${organizationId} ${day}`) ?? 0;

type Estimate = () => Promise<number>;
function guardOf(
  limits: CostLimits,
  estimate: Estimate | undefined = async () => gigabyte,
  storage: typeof scans = scans,
): CostGuard {
  const guard = createCostGuard({
    telemetry: {
      estimate: async (rendered) => {
        estimates.push(rendered);
        return { bytes: await estimate() };
      },
    },
    scans: storage,
    limits,
    logger,
    now: () => new Date(time),
  });
  if (guard === undefined) throw new Error('nothing is guarded');
  return guard;
}

const statement = (organizationId = acme, rendered = 'SELECT 1') => ({
  rendered,
  context: { organizationId, signal: new AbortController().signal } satisfies StatementContext,
  requestId: 'req-1',
  narrower: (share: number) => ({ hint: `Read ${Math.round(share * 100)} %.`, retry: { share } }),
});

async function refusal(work: Promise<unknown>): Promise<SightlineError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof SightlineError) return error;
    throw error;
  }
  throw new Error('it was admitted');
}

describe('a cost guard', () => {
  it('is none where it is off or nothing is limited', () => {
    const parts = { telemetry: {}, scans, logger, now: () => new Date(time) };
    expect(createCostGuard({ ...parts, limits: { mode: 'off', dailyBytes: 1 } })).toBeUndefined();
    expect(createCostGuard({ ...parts, limits: { mode: 'enforce' } })).toBeUndefined();
    expect(log).toEqual([]);
    // A limit that cannot be held is not kept quiet about.
    expect(createCostGuard({ ...parts, limits: { mode: 'enforce', maxQueryBytes: 1 } })).toBeUndefined();
    expect(log).toEqual([expect.objectContaining({ message: expect.stringContaining('has no effect') })]);
    log.length = 0;
    expect(createCostGuard({ ...parts, limits: { mode: 'enforce', dailyBytes: 1 } })).toBeDefined();
    expect(log).toEqual([
      expect.objectContaining({ message: expect.stringContaining('only what ended queries read') }),
    ]);
  });

  it('refuses a statement that would read too much, and says by how much less it would not', async () => {
    const guard = guardOf({ mode: 'enforce', maxQueryBytes: 250_000_000 });
    expect(await refusal(guard.admit(statement()))).toMatchObject({
      code: 'query_too_costly',
      message: 'The query would read about 1 GB, and may read 250 MB.',
      hint: 'Read 25 %.',
      retry: { share: 0.25 },
    });
    expect(usedBy(acme)).toBe(0);
    expect(log).toEqual([]);
  });

  it('counts the estimate before a statement runs, and what it read in truth after', async () => {
    const guard = guardOf({ mode: 'enforce', dailyBytes: 10 * gigabyte });
    const admission = await guard.admit(statement());
    expect(usedBy(acme)).toBe(gigabyte);
    await admission.settle(300);
    expect(usedBy(acme)).toBe(300);
    await (await guard.admit(statement())).settle(undefined);
    expect(usedBy(acme)).toBe(gigabyte + 300);
    await (await guard.admit(statement())).settle(5 * gigabyte);
    expect(usedBy(acme)).toBe(6 * gigabyte + 300);
  });

  it('refuses what the rest of the day does not hold, until midnight UTC', async () => {
    const guard = guardOf({ mode: 'enforce', dailyBytes: 1.5 * gigabyte });
    await guard.admit(statement());
    expect(await refusal(guard.admit(statement()))).toMatchObject({
      code: 'scan_budget_exceeded',
      message: 'The query would read about 1 GB, and 500 MB are left of the 1.5 GB a day.',
      hint: 'Read 50 %. Or wait: the count begins anew at 2026-03-02T00:00:00.000Z.',
      retry: { share: 0.5 },
      retryAfterSeconds: 7200,
    });
    expect(usedBy(acme)).toBe(gigabyte);
    // The other organization has a day of its own, and the next day is a new one.
    await guard.admit(statement(globex));
    time += 2 * 3_600_000;
    await guard.admit(statement());
    expect(usedBy(acme, '2026-03-02')).toBe(gigabyte);
  });

  it('refuses everything once the day is used up, also where nothing can be estimated', async () => {
    const parts = { telemetry: {}, scans, logger, now: () => new Date(time) };
    const guard = createCostGuard({ ...parts, limits: { mode: 'enforce', maxQueryBytes: 1, dailyBytes: 1000 } });
    await (await guard?.admit(statement()))?.settle(1000);
    expect(await refusal(Promise.resolve(guard?.admit(statement())))).toMatchObject({
      code: 'scan_budget_exceeded',
      hint: 'Wait: the count begins anew at 2026-03-02T00:00:00.000Z.',
      retry: undefined,
      retryAfterSeconds: 7200,
    });
  });

  it('lets no more through at once than the day holds', async () => {
    const guard = guardOf({ mode: 'enforce', dailyBytes: 3 * gigabyte });
    const asked = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => guard.admit(statement(acme, `SELECT ${index}`))),
    );
    expect(asked.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(3);
    expect(usedBy(acme)).toBeLessThanOrEqual(3 * gigabyte);
  });

  it('counts nothing where no day is limited', async () => {
    const broken = { add: () => Promise.reject(new Error('disk')), total: () => Promise.reject(new Error('disk')) };
    const guard = guardOf({ mode: 'enforce', maxQueryBytes: 2 * gigabyte }, undefined, () => broken);
    await (await guard.admit(statement())).settle(5);
    expect(log).toEqual([]);
  });

  it('asks for the same statement once a minute, for each organization', async () => {
    const guard = guardOf({ mode: 'enforce', maxQueryBytes: 2 * gigabyte });
    for (const organizationId of [acme, acme, globex, acme]) await guard.admit(statement(organizationId));
    expect(estimates).toHaveLength(2);
    await guard.admit(statement(acme, 'SELECT 2'));
    expect(estimates).toHaveLength(3);
    time += 60_000;
    await guard.admit(statement());
    expect(estimates).toHaveLength(4);
  });

  it.each([
    ['fails', () => Promise.reject(new SightlineError('telemetry_unavailable', 'Down.'))],
    ['is no number', async () => Number.NaN],
    ['is negative', async () => -1],
  ])('lets nothing through where the estimate %s', async (_, estimate) => {
    const guard = guardOf({ mode: 'enforce', maxQueryBytes: 1 }, estimate);
    await expect(guard.admit(statement())).rejects.toThrow(/Down\.|no number/);
    expect(usedBy(acme)).toBe(0);
  });

  it('lets nothing through where nothing can be counted', async () => {
    const broken = { add: () => Promise.reject(new Error('disk')), total: () => Promise.reject(new Error('disk')) };
    const guard = guardOf({ mode: 'enforce', dailyBytes: 1 }, undefined, () => broken);
    await expect(guard.admit(statement())).rejects.toThrow('disk');
  });

  it('does not take an answer away when what was read cannot be counted', async () => {
    const guard = guardOf({ mode: 'enforce', dailyBytes: 10 * gigabyte }, undefined, (organizationId) => ({
      ...scans(organizationId),
      add: async (_, bytes) => (bytes === gigabyte ? bytes : Promise.reject(new Error('disk'))),
    }));
    await (await guard.admit(statement())).settle(5);
    expect(log).toEqual([expect.objectContaining({ message: 'what a query read could not be counted' })]);
  });

  it('in the shadow refuses nothing, logs what it would have, and counts all the same', async () => {
    const guard = guardOf({ mode: 'shadow', maxQueryBytes: 1000, dailyBytes: 1.5 * gigabyte });
    await guard.admit(statement());
    await (await guard.admit(statement())).settle(2 * gigabyte);
    expect(usedBy(acme)).toBe(3 * gigabyte);
    expect(log.map(({ message }) => message)).toEqual([
      'would refuse: The query would read about 1 GB, and may read 1 kB.',
      'would refuse: The query would read about 1 GB, and may read 1 kB.',
      'would refuse: The query would read about 1 GB, and 500 MB are left of the 1.5 GB a day.',
    ]);
    expect(log[2]?.fields).toEqual({ organizationId: acme, request_id: 'req-1', code: 'scan_budget_exceeded' });
  });

  it('in the shadow takes nothing away when it fails itself', async () => {
    const guard = guardOf({ mode: 'shadow', maxQueryBytes: 1 }, () => Promise.reject(new Error('no such plan')));
    await (await guard.admit(statement())).settle(7);
    expect(log).toEqual([expect.objectContaining({ message: 'what a query costs could not be told' })]);
  });
});
