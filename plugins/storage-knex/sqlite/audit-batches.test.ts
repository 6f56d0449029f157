import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { newId, type OrganizationId } from '../../../src/contract/core/index.ts';
import type { AuditRecord } from '../../../src/contract/storage/index.ts';
import { testHost } from '../../../test/contract/host.ts';
import { rejection } from '../../../test/contract/runner.ts';
import { KnexStorage } from '../storage.ts';
import { NodeSqliteClient } from './client.ts';
import { openDatabase } from './open.ts';
import { sqlite } from './dialect.ts';
import type { PooledConnection } from '../dialect.ts';
import { ThreadEnded } from './thread.ts';

const record = (requestId: string): AuditRecord => ({
  at: new Date(1_700_000_000_000),
  event: 'tool.call',
  subject: 'ak_1',
  requestId,
  target: 'query_otel',
  outcome: 'ok',
});
const some = (count: number, more: Partial<AuditRecord> = {}) =>
  Array.from({ length: count }, (_, index) => ({ ...record(`r${index}`), ...more }));

describe('audit chains of several organizations', () => {
  let directory: string;
  let filename: string;
  let connection: PooledConnection;
  let storage: KnexStorage;
  let organizations: OrganizationId[];
  let transactions: number[];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sl-batches-'));
    filename = join(directory, 'sightline.sqlite');
    connection = sqlite(filename);
    storage = new KnexStorage({ inDataDirectory: true, connect: () => connection }, testHost(directory));
    await storage.start(AbortSignal.timeout(20_000));
    organizations = [];
    for (const name of ['one', 'two', 'three']) {
      const { id } = await storage.directory.createOrganization({ name });
      organizations.push(id);
      // Opens the chain, a transaction of its own.
      await audit(id).append([record('first')]);
    }
    transactions = [];
    const { append } = NodeSqliteClient.prototype;
    jest.spyOn(NodeSqliteClient.prototype, 'append').mockImplementation(function (this: NodeSqliteClient, on, appends) {
      transactions.push(appends.length);
      return append.call(this, on, appends);
    });
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await storage.stop();
    await rm(directory, { recursive: true });
  });

  const audit = (id: OrganizationId) => storage.workspace(id).audit;
  const kept = async (id: OrganizationId) =>
    (await audit(id).list({ limit: 1_000 })).map(({ requestId }) => requestId).toReversed();
  const heads = (id: OrganizationId) =>
    audit(id)
      .chains({ after: 0, limit: 10 })
      .then((chains) => chains.map(({ head }) => head.seq));

  it('go to the disk together', async () => {
    await Promise.all(organizations.map((id, index) => audit(id).append([record(`of ${index}`)])));
    expect(transactions).toEqual([3]);
    for (const [index, id] of organizations.entries()) expect(await kept(id)).toEqual(['first', `of ${index}`]);
  });

  it('do not keep other writers waiting for more than so many rows', async () => {
    await Promise.all(organizations.map((id) => audit(id).append(some(1_500))));
    expect(transactions).toEqual([1, 1, 1]);
    await Promise.all(organizations.map((id) => audit(id).append(some(1_000))));
    expect(transactions).toEqual([1, 1, 1, 2, 1]);
  });

  it('wait for one other writer, however many there are', async () => {
    let written = 0;
    const others = Array.from({ length: 50 }, async (_, index) => {
      await storage.directory.createOrganization({ name: `other ${index}` });
      written += 1;
    });
    await audit(organizations[0] ?? newId('org')).append([record('next')]);
    expect(written).toBeLessThan(5);
    await Promise.all(others);
  });

  it('wait for another process that writes, and then are all there', async () => {
    const other = openDatabase(filename, { blockingMs: 5, readOnly: false });
    other.exec('BEGIN IMMEDIATE');
    const appended = Promise.all(organizations.map((id) => audit(id).append([record('late')])));
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const id of organizations) expect(await kept(id)).toEqual(['first']);
    other.exec('COMMIT');
    other.close();
    await appended;
    for (const id of organizations) expect(await kept(id)).toEqual(['first', 'late']);
  });

  it('that are refused take nothing of the others with them', async () => {
    const [one, two, three] = organizations;
    if (one === undefined || two === undefined || three === undefined) throw new Error('there are three');
    // As somebody with the file alone might: a chain is moved on, and a record of another one stands where the next is to be.
    await connection.writer.raw('UPDATE audit_chains SET seq = 7 WHERE organization_id = ?', [one]);
    await connection.writer.raw(
      'INSERT INTO audit (organization_id, chain, seq, hash, at, event, subject, request_id, target, outcome)' +
        " SELECT organization_id, chain, 2, hash, at, event, subject, 'planted', target, outcome FROM audit WHERE organization_id = ?",
      [two],
    );
    const [moved, refused, good] = await Promise.allSettled(
      [one, two, three].map((id) => audit(id).append([record('next')])),
    );
    expect([moved?.status, refused?.status, good?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    // The one that was moved goes on in a new chain.
    expect(await heads(one)).toEqual([7, 1]);
    expect([await kept(two), await heads(two)]).toEqual([['first', 'planted'], [1]]);
    expect([await kept(three), await heads(three)]).toEqual([['first', 'next'], [2]]);
  });

  it('are told of a full disk, each, and go on where they were when there is room again', async () => {
    // Of this connection alone: the batches are so few that no other one is taken for them.
    const pages = (count: string) => connection.writer.raw(`PRAGMA max_page_count = ${count}`);
    await pages('1');
    const batches = organizations.map(() => some(30, { statement: 'x'.repeat(2_000) }));
    for (const [index, id] of organizations.entries()) {
      expect(await rejection(audit(id).append(batches[index] ?? []))).toMatchObject({ code: 'unavailable' });
    }
    const together = await Promise.allSettled(organizations.map((id, index) => audit(id).append(batches[index] ?? [])));
    expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    for (const id of organizations) expect(await kept(id)).toEqual(['first']);
    await pages('4294967294');
    await Promise.all(organizations.map((id, index) => audit(id).append(batches[index] ?? [])));
    for (const id of organizations) {
      expect(await kept(id)).toHaveLength(31);
      expect(await heads(id)).toEqual([31]);
    }
  });

  it('of which nothing was heard are unavailable, and when they are repeated kept once', async () => {
    const { append } = NodeSqliteClient.prototype;
    const ended = new ThreadEnded(undefined);
    const repeat = async (batch: AuditRecord): Promise<void> => {
      const lost = await Promise.allSettled(organizations.map((id) => audit(id).append([batch])));
      expect(lost).toMatchObject(organizations.map(() => ({ status: 'rejected', reason: { code: 'unavailable' } })));
      await Promise.all(organizations.map((id) => audit(id).append([batch])));
    };
    const next = jest.spyOn(NodeSqliteClient.prototype, 'append');
    next.mockImplementationOnce(async function (this: NodeSqliteClient, on, appends) {
      await append.call(this, on, appends);
      throw ended;
    });
    await repeat(record('kept after all'));
    next.mockRejectedValueOnce(ended);
    await repeat(record('not kept'));
    for (const id of organizations) {
      expect(await kept(id)).toEqual(['first', 'kept after all', 'not kept']);
      expect(await heads(id)).toEqual([3]);
    }
  });
});
