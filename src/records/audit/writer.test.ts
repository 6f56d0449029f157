import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { newId, type Logger, type OrganizationId } from '../../contract/core/index.ts';
import type { AuditRecord, AuditRepository, Storage, Workspace } from '../../contract/storage/index.ts';
import { createAuditWriter } from './writer.ts';

const record = (requestId: string): AuditRecord => ({
  at: new Date(0),
  event: 'tool.call',
  subject: 'ak_1',
  requestId,
  target: 'query_otel',
  outcome: 'ok',
});

/** A store whose writes can be made to fail or hang. */
function store() {
  const written = new Map<OrganizationId, string[]>();
  const batches: number[] = [];
  const logged: object[] = [];
  const state: { failing: (id: OrganizationId) => boolean; gate: Promise<void> | undefined } = {
    failing: () => false,
    gate: undefined,
  };
  const refuse = (): never => {
    throw new Error('only the audit is asked here');
  };
  const workspace = (organizationId: OrganizationId): Workspace => {
    const audit: AuditRepository = {
      async append(records) {
        await state.gate;
        if (state.failing(organizationId)) throw new Error('disk full');
        batches.push(records.length);
        written.set(organizationId, [
          ...(written.get(organizationId) ?? []),
          ...records.map(({ requestId }) => requestId),
        ]);
      },
      list: refuse,
      census: refuse,
      chains: refuse,
      chain: refuse,
      records: refuse,
    };
    return new Proxy<Workspace>(Object.create(null), {
      get: (_target, name) => (name === 'audit' ? audit : refuse()),
    });
  };
  const storage: Pick<Storage, 'workspace'> = { workspace };
  const logger: Logger = {
    debug() {},
    info() {},
    warn() {},
    error: (fields) => void logged.push(fields),
    child: () => logger,
  };
  return { storage, logger, written, batches, logged, state };
}

const unavailable = expect.objectContaining({ code: 'unavailable', retryAfterSeconds: 1 });
const thrownBy = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe('createAuditWriter', () => {
  it('writes what comes meanwhile with the next batch, and all that is left at its end', async () => {
    const { storage, logger, batches, state } = store();
    const audit = createAuditWriter({ storage, logger, flushMs: 20 });
    const acme = newId('org');
    const { promise, resolve } = Promise.withResolvers<void>();
    state.gate = promise;
    audit.reserve(acme)(record('first'));
    await wait(60);
    for (let count = 0; count < 700; count += 1) audit.reserve(acme)(record(`meanwhile ${count}`));
    resolve();
    // So many wait for nothing.
    await promise;
    await new Promise((done) => setImmediate(done));
    expect(batches).toEqual([1, 700]);
    await audit.stop();
    expect(batches).toEqual([1, 700]);
  });

  it('lets what comes while a batch is written wait no longer in all', async () => {
    jest.useFakeTimers();
    try {
      const { storage, logger, batches, state } = store();
      const audit = createAuditWriter({ storage, logger, flushMs: 50 });
      const acme = newId('org');
      const { promise, resolve } = Promise.withResolvers<void>();
      state.gate = promise;
      audit.reserve(acme)(record('first'));
      await jest.advanceTimersByTimeAsync(50);
      audit.reserve(acme)(record('meanwhile'));
      await jest.advanceTimersByTimeAsync(30);
      resolve();
      await jest.advanceTimersByTimeAsync(19);
      expect(batches).toEqual([1]);
      await jest.advanceTimersByTimeAsync(1);
      expect(batches).toEqual([1, 1]);
      await audit.stop();
    } finally {
      jest.useRealTimers();
    }
  });

  it('writes with what is due whatever else waits, but gives a store that refused one its pause', async () => {
    jest.useFakeTimers();
    try {
      const { storage, logger, written, state } = store();
      const audit = createAuditWriter({ storage, logger, flushMs: 50 });
      const [bad, first, second] = [newId('org'), newId('org'), newId('org')];
      let refused = 0;
      state.failing = (id) => id === bad && (refused += 1) > 0;
      audit.reserve(bad)(record('1'));
      // Due at 50 and, since it is refused, at 100 and 200.
      await jest.advanceTimersByTimeAsync(110);
      expect(refused).toBe(2);
      audit.reserve(first)(record('2'));
      await jest.advanceTimersByTimeAsync(40);
      audit.reserve(second)(record('3'));
      await jest.advanceTimersByTimeAsync(10);
      expect([...written.keys()]).toEqual([first, second]);
      expect(refused).toBe(2);
      await jest.advanceTimersByTimeAsync(40);
      expect(refused).toBe(3);
      state.failing = () => false;
      await audit.stop();
      expect(written.get(bad)).toEqual(['1']);
    } finally {
      jest.useRealTimers();
    }
  });

  it('writes what was recorded soon, in order and in one batch', async () => {
    const { storage, logger, written, batches } = store();
    const audit = createAuditWriter({ storage, logger });
    const org = newId('org');
    for (const id of ['1', '2', '3']) audit.reserve(org)(record(id));
    expect(written.size).toBe(0);
    await wait(150);
    expect([written.get(org), batches]).toEqual([['1', '2', '3'], [3]]);
    await audit.stop();
  });

  it('splits a flood into batches and loses none', async () => {
    const { storage, logger, written, batches } = store();
    const audit = createAuditWriter({ storage, logger });
    const org = newId('org');
    const ids = Array.from({ length: 4_700 }, (_, index) => String(index));
    for (const id of ids) audit.reserve(org)(record(id));
    await audit.stop();
    expect(written.get(org)).toEqual(ids);
    expect(batches).toEqual([500, 2_000, 2_000, 200]);
  });

  it('writes the rest when it stops, and takes nothing after', async () => {
    const { storage, logger, written } = store();
    const audit = createAuditWriter({ storage, logger, flushMs: 60_000 });
    const org = newId('org');
    const late = audit.reserve(org);
    audit.reserve(org)(record('1'));
    await audit.stop();
    await audit.stop();
    expect(written.get(org)).toEqual(['1']);
    expect(thrownBy(() => audit.reserve(org))).toEqual(unavailable);
    late(record('2'));
    await audit.stop();
    expect(written.get(org)).toEqual(['1', '2']);
  });

  it('stops all organizations at once, so that a store that hangs is waited for one time', async () => {
    const { storage, logger, written } = store();
    const organizations = Array.from({ length: 30 }, () => newId('org'));
    const all = Promise.withResolvers<void>();
    let asked = 0;
    const workspace: typeof storage.workspace = (organizationId) => {
      const whole = storage.workspace(organizationId);
      const append: AuditRepository['append'] = async (records) => {
        asked += 1;
        if (asked === organizations.length) all.resolve();
        await all.promise;
        await whole.audit.append(records);
      };
      return new Proxy(whole, {
        get: (target, name) => (name === 'audit' ? { ...whole.audit, append } : Reflect.get(target, name)),
      });
    };
    const audit = createAuditWriter({ storage: { workspace }, logger, flushMs: 60_000 });
    for (const organizationId of organizations) audit.reserve(organizationId)(record('1'));
    await audit.stop();
    expect([written.size, audit.pending]).toEqual([organizations.length, 0]);
  });

  it('refuses calls while the store fails, for that organization alone, and catches up when it works again', async () => {
    const { storage, logger, written, state } = store();
    const audit = createAuditWriter({ storage, logger, flushMs: 5 });
    const [bad, good] = [newId('org'), newId('org')];
    state.failing = (id) => id === bad;
    const before = audit.reserve(bad);
    audit.reserve(bad)(record('1'));
    await wait(30);
    expect(thrownBy(() => audit.reserve(bad))).toEqual(unavailable);
    expect(audit.blocked).toBe(1);
    before(record('2'));
    audit.reserve(good)(record('3'));
    await wait(30);
    expect(written.get(good)).toEqual(['3']);
    expect(written.has(bad)).toBe(false);
    state.failing = () => false;
    for (let turn = 0; turn < 100 && written.get(bad)?.length !== 2; turn += 1) await wait(20);
    expect(written.get(bad)).toEqual(['1', '2']);
    expect(audit.blocked).toBe(0);
    audit.reserve(bad)(record('4'));
    await audit.stop();
    expect(written.get(bad)).toEqual(['1', '2', '4']);
  });

  it('holds a bounded number of places, those of running calls included', async () => {
    const { storage, logger, state } = store();
    const hang = Promise.withResolvers<void>();
    state.gate = hang.promise;
    const audit = createAuditWriter({ storage, logger, flushMs: 1, maxPending: 3 });
    const org = newId('org');
    audit.reserve(org)(record('1'));
    await wait(10);
    const open = [audit.reserve(org), audit.reserve(org)];
    expect(thrownBy(() => audit.reserve(org))).toEqual(unavailable);
    open.forEach((write, index) => write(record(String(index + 2))));
    expect(thrownBy(() => audit.reserve(org))).toEqual(unavailable);
    hang.resolve();
    await wait(20);
    audit.reserve(org)(record('4'));
    await audit.stop();
  });

  it('gives places back once their records are written', async () => {
    const { storage, logger, written } = store();
    const audit = createAuditWriter({ storage, logger, flushMs: 1, maxPending: 2 });
    const org = newId('org');
    const ids = Array.from({ length: 25 }, (_, index) => String(index));
    for (const id of ids) {
      audit.reserve(org)(record(id));
      for (let turn = 0; turn < 100 && written.get(org)?.at(-1) !== id; turn += 1) await wait(2);
    }
    expect(written.get(org)).toEqual(ids);
    await audit.stop();
  });

  it('puts what the store never took into the log when it stops', async () => {
    const { storage, logger, logged, state } = store();
    state.failing = () => true;
    const audit = createAuditWriter({ storage, logger, flushMs: 5 });
    const org = newId('org');
    audit.reserve(org)(record('1'));
    await audit.stop();
    expect(logged.at(-1)).toMatchObject({ organizationId: org, records: [{ requestId: '1' }] });
  });

  it('takes one record for one place', () => {
    const { storage, logger } = store();
    const audit = createAuditWriter({ storage, logger, flushMs: 1 });
    const write = audit.reserve(newId('org'));
    write(record('1'));
    expect(() => write(record('2'))).toThrow('twice');
  });
});
