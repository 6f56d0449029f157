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
/** Has a place after the callbacks that are due, or has none yet. */
const soon = async (place: unknown): Promise<unknown> => {
  const none = new Promise((resolve) => setImmediate(resolve, 'waits'));
  return Promise.race([place, none]).catch((error: unknown) => error);
};
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
    audit.reserveNow(acme)(record('first'));
    await wait(60);
    for (let count = 0; count < 700; count += 1) audit.reserveNow(acme)(record(`meanwhile ${count}`));
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
      audit.reserveNow(acme)(record('first'));
      await jest.advanceTimersByTimeAsync(50);
      audit.reserveNow(acme)(record('meanwhile'));
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
      audit.reserveNow(bad)(record('1'));
      // Due at 50 and, since it is refused, at 100 and 200.
      await jest.advanceTimersByTimeAsync(110);
      expect(refused).toBe(2);
      audit.reserveNow(first)(record('2'));
      await jest.advanceTimersByTimeAsync(40);
      audit.reserveNow(second)(record('3'));
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
    for (const id of ['1', '2', '3']) audit.reserveNow(org)(record(id));
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
    for (const id of ids) audit.reserveNow(org)(record(id));
    await audit.stop();
    expect(written.get(org)).toEqual(ids);
    expect(batches).toEqual([500, 2_000, 2_000, 200]);
  });

  it('writes the rest when it stops, and takes nothing after', async () => {
    const { storage, logger, written } = store();
    const audit = createAuditWriter({ storage, logger, flushMs: 60_000 });
    const org = newId('org');
    const late = audit.reserveNow(org);
    audit.reserveNow(org)(record('1'));
    await audit.stop();
    await audit.stop();
    expect(written.get(org)).toEqual(['1']);
    expect(thrownBy(() => audit.reserve(org))).toEqual(unavailable);
    expect(thrownBy(() => audit.reserveNow(org))).toEqual(unavailable);
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
    for (const organizationId of organizations) audit.reserveNow(organizationId)(record('1'));
    await audit.stop();
    expect([written.size, audit.pending]).toEqual([organizations.length, 0]);
  });

  it('refuses calls while the store fails, for that organization alone, and catches up when it works again', async () => {
    const { storage, logger, written, state } = store();
    const audit = createAuditWriter({ storage, logger, flushMs: 5 });
    const [bad, good] = [newId('org'), newId('org')];
    state.failing = (id) => id === bad;
    const before = audit.reserveNow(bad);
    audit.reserveNow(bad)(record('1'));
    await wait(60);
    expect(thrownBy(() => audit.reserve(bad))).toEqual(unavailable);
    expect(thrownBy(() => audit.reserveNow(bad))).toEqual(unavailable);
    expect(audit.blocked).toBe(1);
    before(record('2'));
    audit.reserveNow(good)(record('3'));
    await wait(30);
    expect(written.get(good)).toEqual(['3']);
    expect(written.has(bad)).toBe(false);
    state.failing = () => false;
    for (let turn = 0; turn < 100 && written.get(bad)?.length !== 2; turn += 1) await wait(20);
    expect(written.get(bad)).toEqual(['1', '2']);
    expect(audit.blocked).toBe(0);
    audit.reserveNow(bad)(record('4'));
    await audit.stop();
    expect(written.get(bad)).toEqual(['1', '2', '4']);
  });

  it('lets a call wait for the next try of an append that failed once, and refuses it when that fails too', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    try {
      const { storage, logger, written, state } = store();
      const audit = createAuditWriter({ storage, logger, flushMs: 50 });
      const [mended, dead] = [newId('org'), newId('org')];
      let failures = 0;
      state.failing = (id) => id === dead || (failures += 1) === 1;
      audit.reserveNow(mended)(record('1'));
      audit.reserveNow(dead)(record('2'));
      await jest.advanceTimersByTimeAsync(50);
      const [first, second] = [audit.reserve(mended), audit.reserve(dead)];
      expect([await soon(first), await soon(second)]).toEqual(['waits', 'waits']);
      await jest.advanceTimersByTimeAsync(50);
      (await first)(record('3'));
      expect(await soon(second)).toEqual(unavailable);
      await audit.stop();
      expect(written.get(mended)).toEqual(['1', '3']);
    } finally {
      jest.useRealTimers();
    }
  });

  it('gives places in turn once there is room, to no more than there is room for', async () => {
    const { storage, logger, written, state } = store();
    const hang = Promise.withResolvers<void>();
    state.gate = hang.promise;
    const audit = createAuditWriter({ storage, logger, flushMs: 1, maxPending: 3 });
    const [acme, globex] = [newId('org'), newId('org')];
    audit.reserveNow(acme)(record('1'));
    await wait(10);
    const open = [audit.reserveNow(acme), audit.reserveNow(acme)];
    const gone = new AbortController();
    const waiting = ['first', 'left', 'second'].map((name) =>
      audit.reserve(acme, name === 'left' ? gone.signal : undefined),
    );
    gone.abort();
    expect(await soon(waiting[1])).toEqual(unavailable);
    expect(await soon(audit.reserve(acme, gone.signal))).toEqual(unavailable);
    expect(await soon(waiting[0])).toBe('waits');
    // Another organization does not wait for it.
    expect(await soon(audit.reserve(globex))).toBeInstanceOf(Function);
    hang.resolve();
    const first = await waiting[0];
    expect(await soon(waiting[2])).toBe('waits');
    open.forEach((write, index) => write(record(`open ${index}`)));
    const second = await waiting[2];
    for (const [index, write] of [first, second].entries()) write?.(record(`waited ${index}`));
    await audit.stop();
    expect(written.get(acme)).toEqual(['1', 'open 0', 'open 1', 'waited 0', 'waited 1']);
  });

  it('refuses a call that waited for long, and all that wait when it stops', async () => {
    const { storage, logger, state } = store();
    const hang = Promise.withResolvers<void>();
    state.gate = hang.promise;
    const audit = createAuditWriter({ storage, logger, flushMs: 1, maxPending: 1, waitMs: 20 });
    const [acme, globex] = [newId('org'), newId('org')];
    const patient = createAuditWriter({ storage, logger, flushMs: 1, maxPending: 1 });
    audit.reserveNow(acme)(record('1'));
    patient.reserveNow(globex)(record('2'));
    await expect(audit.reserve(acme)).rejects.toEqual(unavailable);
    const waiting = patient.reserve(globex);
    expect(await soon(waiting)).toBe('waits');
    const stopped = patient.stop();
    await expect(waiting).rejects.toEqual(unavailable);
    hang.resolve();
    await Promise.all([stopped, audit.stop()]);
  });

  it('keeps as many places again for who cannot wait, and no more', async () => {
    const { storage, logger, state } = store();
    const hang = Promise.withResolvers<void>();
    state.gate = hang.promise;
    const audit = createAuditWriter({ storage, logger, flushMs: 1, maxPending: 2 });
    const [acme, globex] = [newId('org'), newId('org')];
    for (const id of ['1', '2', '3', '4']) audit.reserveNow(acme)(record(id));
    expect(thrownBy(() => audit.reserveNow(acme))).toEqual(unavailable);
    audit.reserveNow(globex)(record('5'));
    hang.resolve();
    await audit.stop();
  });

  it('gives places back once their records are written', async () => {
    const { storage, logger, written } = store();
    const audit = createAuditWriter({ storage, logger, flushMs: 1, maxPending: 2 });
    const org = newId('org');
    const ids = Array.from({ length: 25 }, (_, index) => String(index));
    for (const id of ids) {
      audit.reserveNow(org)(record(id));
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
    audit.reserveNow(org)(record('1'));
    await audit.stop();
    expect(logged.at(-1)).toMatchObject({ organizationId: org, records: [{ requestId: '1' }] });
  });

  it('takes one record for one place', () => {
    const { storage, logger } = store();
    const audit = createAuditWriter({ storage, logger, flushMs: 1 });
    const write = audit.reserveNow(newId('org'));
    write(record('1'));
    expect(() => write(record('2'))).toThrow('twice');
  });
});
