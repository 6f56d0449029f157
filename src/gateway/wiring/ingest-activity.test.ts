import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../../test/contract/host.ts';
import { emptyStore } from '../../../test/support/stores.ts';
import { newId, type OrganizationId } from '../../contract/core/index.ts';
import type { Role } from '../../contract/issuer/index.ts';
import type { Storage } from '../../contract/storage/index.ts';
import type { TelemetrySink } from '../../contract/telemetry/index.ts';
import type { GovernanceRule } from '../../telemetry/query/governance.ts';
import { ActivityLog } from '../../telemetry/ingest/activity.ts';
import { activityFinding, crowdingFinding, organizationActivity } from './ingest-activity.ts';

describe('organizations that send at once', () => {
  const [acme, globex]: readonly OrganizationId[] = [newId('org'), newId('org')];
  let dataDirectory = '';
  let store: Awaited<ReturnType<typeof emptyStore>>;
  let storage: Storage;
  beforeAll(async () => {
    dataDirectory = await mkdtemp(join(tmpdir(), 'sightline-'));
    store = await emptyStore();
    storage = store.open();
    await storage.start(AbortSignal.timeout(30_000));
    const log = new ActivityLog(dataDirectory, 0, silentLogger, () => new Date());
    const yesterday = new ActivityLog(dataDirectory, 1, silentLogger, () => new Date(Date.now() - 86_400_000));
    for (const id of [acme, globex]) if (id) log.arrived(id, 'shop');
    yesterday.arrived(newId('org'), 'old');
    for (const each of [log, yesterday]) await each.stop();
  });
  const foundation = (...rules: readonly GovernanceRule[]) => ({
    dataDirectory,
    now: () => new Date(),
    config: { governance: { rules } },
  });
  afterAll(async () => {
    await storage.stop();
    await store.cleanup();
    await rm(dataDirectory, { recursive: true });
  });

  it('are a warning to the operator where they are more than engines may be open, with what to do', async () => {
    expect(await crowdingFinding(dataDirectory, 2)).toMatchObject({ status: 'ok' });
    expect(await crowdingFinding(dataDirectory, 1)).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('2 organizations'),
      hint: expect.stringContaining('telemetry.openEngines'),
    });
  });

  it('are said on the page of each, and not how many or who they are', async () => {
    const of = async (sink: Pick<TelemetrySink, 'atOnce'>, id = acme) => {
      if (id === undefined) throw new Error('no organization');
      return await organizationActivity({ storage, sink, foundation: foundation() }, id, 'member');
    };
    expect((await of({ atOnce: 2 })).crowded).toBeUndefined();
    expect((await of({})).crowded).toBeUndefined();
    const { crowded } = await of({ atOnce: 1 });
    expect(crowded).toMatch(/More organizations send at once/);
    expect(crowded).not.toMatch(/\b[12]\b|org_/);
  });

  it('are named by their service to those alone who may read it', async () => {
    if (acme === undefined) throw new Error('no organization');
    const rules: readonly GovernanceRule[] = [
      { roles: ['member'], tables: ['logs'], attributes: ['service.*'], action: 'mask' },
    ];
    const seen = async (role: Role) =>
      (await organizationActivity({ storage, sink: undefined, foundation: foundation(...rules) }, acme, role)).arrival;
    expect(await seen('admin')).toMatchObject({ at: expect.any(Date), service: 'shop' });
    expect(await seen('member')).toEqual({ at: expect.any(Date) });
  });
});

it('tells the operator of a refusal whether its token was wrong, or never read', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'sightline-'));
  try {
    const log = new ActivityLog(dataDirectory, 0, silentLogger, () => new Date());
    log.refused({ cause: 'HTTP 405', reason: 'This is sent by POST.', userAgent: 'curl' });
    log.refused({ cause: 'HTTP 401: foreign', reason: 'No ingest token.', userAgent: 'curl' });
    await log.stop();
    const { hint = '' } = await activityFinding(dataDirectory);
    expect(hint.split('\n').toSorted()).toEqual([
      '1 before a token was read, by curl: This is sent by POST.',
      '1 without a valid token, by curl: No ingest token.',
    ]);
  } finally {
    await rm(dataDirectory, { recursive: true });
  }
});
