import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AuditRecord } from '../../../src/contract/storage/index.ts';
import { testHost } from '../../../test/contract/host.ts';
import { KnexStorage } from '../storage.ts';
import { sqlite } from './dialect.ts';
import { openDatabase } from './open.ts';
import { ThreadConnection } from './thread.ts';

let directory: string;
let filename: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sl-writer-'));
  filename = join(directory, 'sightline.sqlite');
});
afterEach(() => rm(directory, { recursive: true }));

const statement = (sql: string, ...bindings: (string | number)[]) => ({ sql, bindings, rows: undefined });

describe('the connection that writes', () => {
  it('answers rows and changes, and knows whether it is in a transaction', async () => {
    const connection = await ThreadConnection.open({ filename, blockingMs: 5, readOnly: false });
    await connection.run(statement('CREATE TABLE t (x INTEGER UNIQUE)'));
    await connection.run(statement('BEGIN;'));
    expect(connection.isTransaction).toBe(true);
    expect(await connection.run(statement('INSERT INTO t VALUES (?)', 1))).toMatchObject({ changes: 1 });
    await connection.run({ sql: 'INSERT INTO t (x) values', bindings: [], rows: [[2], [3], [4]] });
    await connection.run(statement('COMMIT'));
    expect(connection.isTransaction).toBe(false);
    expect(await connection.run(statement('SELECT x FROM t ORDER BY x'))).toEqual([
      { x: 1 },
      { x: 2 },
      { x: 3 },
      { x: 4 },
    ]);
    await connection.close();
    expect(connection.works).toBe(false);
    await expect(connection.run(statement('SELECT 1'))).rejects.toThrow('has ended');
  });

  it('fails as the driver does, by the same codes, and goes on', async () => {
    const connection = await ThreadConnection.open({ filename, blockingMs: 5, readOnly: false });
    await connection.run(statement('CREATE TABLE t (x INTEGER UNIQUE)'));
    await connection.run(statement('INSERT INTO t VALUES (1)'));
    await expect(connection.run(statement('INSERT INTO t VALUES (1)'))).rejects.toMatchObject({ errcode: 2067 });
    const other = openDatabase(filename, { blockingMs: 5, readOnly: false });
    other.exec('BEGIN IMMEDIATE');
    await expect(connection.run(statement('BEGIN;'))).rejects.toMatchObject({ errcode: 5 });
    other.exec('ROLLBACK');
    other.close();
    expect(await connection.run(statement('SELECT count(*) AS n FROM t'))).toEqual([{ n: 1 }]);
    await connection.close();
  });

  it('leaves no thread behind where it cannot be opened', async () => {
    const tasks = '/proc/self/task';
    const threads = (): number => (existsSync(tasks) ? readdirSync(tasks).length : 0);
    const before = threads();
    for (const _ of [1, 2, 3, 4]) {
      await ThreadConnection.open({ filename: join(directory, 'no', 'file'), blockingMs: 5, readOnly: false }).catch(
        () => {},
      );
    }
    expect(threads()).toBeLessThanOrEqual(before + 1);
  });

  it('cannot be opened where the file cannot', async () => {
    await expect(
      ThreadConnection.open({ filename: join(directory, 'no', 'file'), blockingMs: 5, readOnly: false }),
    ).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });
});

describe('a store that writes much', () => {
  const record = (number: number): AuditRecord => ({
    at: new Date(1_700_000_000_000 + number),
    event: 'tool.call',
    subject: 'ak_1',
    requestId: `r${number}`,
    target: 'query_otel',
    outcome: 'ok',
  });

  it('keeps one file and one chain', async () => {
    const storage = new KnexStorage({ connect: () => sqlite(filename) }, testHost(directory));
    await storage.start(AbortSignal.timeout(20_000));
    const organization = await storage.directory.createOrganization({ name: 'acme' });
    const { audit } = storage.workspace(organization.id);
    let number = 0;
    const some = (count: number) => Array.from({ length: count }, () => record((number += 1)));
    const writes: Promise<void>[] = [];
    for (const count of [1, 250, 3, 250, 1]) writes.push(audit.append(some(count)));
    await Promise.all(writes);
    const chains = await audit.chains({ after: 0, limit: 10 });
    expect(chains.map(({ head }) => head.seq)).toEqual([505]);
    const kept = await audit.records({ chain: 1, after: 0, limit: 1_000 });
    expect(kept.map(({ record: { requestId } }) => requestId)).toEqual(
      Array.from({ length: 505 }, (_, index) => `r${index + 1}`),
    );
    await storage.stop();
    // Stopped, nothing of it is left open: the log was folded into the file.
    const file = new DatabaseSync(filename, { readOnly: true });
    expect(file.prepare('SELECT count(*) AS n FROM audit').get()).toEqual({ n: 505 });
    file.close();
  });
});
