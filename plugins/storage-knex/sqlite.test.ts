import { chmodSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { newId, SightlineError, type Host } from '../../src/contract/core/index.ts';
import { testHost } from '../../test/contract/host.ts';
import { rejection } from '../../test/contract/runner.ts';
import {
  ada,
  agent,
  conclusion,
  newAuditRecord,
  newChat,
  newGrant,
  newIncident,
  newInvitation,
  newKey,
  newSecret,
  newSession,
  newStep,
} from '../../test/contract/storage/stage.ts';
import plugin from './index.ts';
import { migrations } from './migrations/run.ts';
import { sqlite } from './sqlite/dialect.ts';
import type { PooledConnection } from './dialect.ts';
import { explain } from './sqlite/errors.ts';
import { openDatabase } from './sqlite/open.ts';
import { ThreadConnection } from './sqlite/thread.ts';
import { KnexStorage } from './storage.ts';

let directory: string;
let file: string;
let opened: KnexStorage[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sightline-sqlite-'));
  file = join(directory, 'sightline.sqlite');
  opened = [];
});
afterEach(async () => {
  for (const storage of opened) await storage.stop();
  await rm(directory, { recursive: true });
});

function make(filename = file, overrides: Partial<Host> = {}): KnexStorage {
  const storage = new KnexStorage(
    { inDataDirectory: true, connect: () => sqlite(filename) },
    testHost(directory, overrides),
  );
  opened.push(storage);
  return storage;
}

async function start(filename = file): Promise<KnexStorage> {
  const storage = make(filename);
  await storage.start(AbortSignal.timeout(20_000));
  return storage;
}

/** A storage whose connection the test can look into. */
async function startSeen(): Promise<{ readonly storage: KnexStorage; readonly connection: PooledConnection }> {
  let seen: PooledConnection | undefined;
  const storage = new KnexStorage({ connect: () => (seen = sqlite(file)) }, testHost(directory));
  opened.push(storage);
  await storage.start(AbortSignal.timeout(20_000));
  if (seen === undefined) throw new Error('no connection was made');
  return { storage, connection: seen };
}

describe('the configuration', () => {
  const parse = (config: unknown) => plugin.configSchema.safeParse(config);

  it('may be empty, and refuses what it does not know or cannot keep', () => {
    expect(parse({}).data).toEqual({ client: 'sqlite' });
    expect(parse({ client: 'sqlite', filename: 'a/b.sqlite' }).success).toBe(true);
    for (const wrong of [
      { file: 'x' },
      { client: 'pg' },
      { filename: '' },
      { filename: ':memory:' },
      { filename: 'file:x?mode=memory' },
    ]) {
      expect(parse(wrong).success).toBe(false);
    }
  });

  it('names a file that counts from the data directory', async () => {
    await mkdir(join(directory, 'deep'));
    const storage = plugin.create({ client: 'sqlite', filename: 'deep/x?mode=ro#y.sqlite' }, testHost(directory));
    await storage.start(AbortSignal.timeout(20_000));
    await storage.stop();
    expect(readdirSync(join(directory, 'deep'))).toEqual(['x?mode=ro#y.sqlite']);
  });
});

describe('the file', () => {
  it('and those beside it are for their owner alone, whatever the umask', async () => {
    const umask = process.umask(0);
    try {
      const storage = await start();
      await storage.directory.createOrganization({ name: 'Acme' });
      const files = readdirSync(directory);
      expect(files.toSorted()).toEqual(['sightline.sqlite', 'sightline.sqlite-shm', 'sightline.sqlite-wal']);
      for (const name of files) expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    } finally {
      process.umask(umask);
    }
  });

  it('is one file again once all have stopped', async () => {
    const [one, two] = [await start(), await start()];
    await one.directory.createOrganization({ name: 'Acme' });
    await two.directory.organizations();
    await one.stop();
    await two.stop();
    expect(readdirSync(directory)).toEqual(['sightline.sqlite']);
  });

  it('is written so that what was acknowledged is on the disk', async () => {
    const { connection } = await startSeen();
    const pragma = async (name: string) => {
      const [row]: readonly Record<string, unknown>[] = await connection.writer.raw(`PRAGMA ${name}`);
      return row?.[name];
    };
    expect(await pragma('journal_mode')).toBe('wal');
    expect(await pragma('synchronous')).toBe(2);
    expect(await pragma('foreign_keys')).toBe(1);
    expect(await pragma('trusted_schema')).toBe(0);
  });

  it('is not written to by what reads', async () => {
    const { connection } = await startSeen();
    await expect(connection.reader('organizations').insert({ id: 'x' })).rejects.toMatchObject({ errcode: 8 });
  });
});

describe('the workspace of an organization', () => {
  it('makes the repository that is asked for, and no other: one audit batch would pay for fifteen', async () => {
    const workspace = (await start()).workspace(newId('org'));
    expect(Object.values(workspace)).toEqual([]);
    expect(workspace.audit).not.toBe(workspace.audit);
  });
});

describe('a file that cannot be used', () => {
  const failure = async (filename: string): Promise<SightlineError> => {
    const error = await rejection(make(filename).start(AbortSignal.timeout(20_000)));
    if (error instanceof SightlineError) return error;
    throw error;
  };

  it('is named with its cause, in one sentence', async () => {
    writeFileSync(join(directory, 'garbage'), 'not a database '.repeat(1_000));
    writeFileSync(join(directory, 'plain'), '');
    const causes = new Map([
      [join(directory, 'garbage'), 'it is not a SQLite database, or its beginning was overwritten'],
      [join(directory, 'missing', 'x.sqlite'), 'its folder does not exist'],
      [join(directory, 'plain', 'x.sqlite'), 'a part of its path is not a folder'],
      [directory, 'it is a folder'],
    ]);
    for (const [filename, cause] of causes) {
      const error = await failure(filename);
      expect(error.code).toBe('unavailable');
      expect(error.message).not.toContain(directory);
      expect(error.operatorMessage).toContain(`The storage file ${filename} cannot be used: ${cause}.`);
      expect(error.cause).toBeDefined();
    }
  });

  it('is said to be damaged when its pages are', async () => {
    const storage = await start();
    for (let number = 0; number < 50; number += 1) await storage.directory.createOrganization({ name: `o${number}` });
    await storage.stop();
    truncateSync(file, 4_096 * 3);
    const error = await failure(file);
    expect(error.operatorMessage).toContain(`The storage file ${file} cannot be used: it is damaged.`);
  });

  it('is said to be not writable', () => {
    const denied = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    expect(explain(denied, file)?.operatorMessage).toContain(
      `The storage file ${file} cannot be used: this user may not write there.`,
    );
    const readOnly = Object.assign(new Error('attempt to write'), { code: 'ERR_SQLITE_ERROR', errcode: 8 | (1 << 8) });
    expect(explain(readOnly, file)?.operatorMessage).toContain('this user may not write to it');
    expect(explain(new TypeError('a bug'), file)).toBeUndefined();
  });

  // Root may write everywhere, so only others can see this.
  if (process.getuid?.() !== 0) {
    it('is said to be not writable when its folder is not', async () => {
      chmodSync(directory, 0o500);
      const error = await failure(file);
      chmodSync(directory, 0o700);
      expect(error.message).toContain('this user may not write there');
    });
  }

  it('leaves the storage able to start once it was put right', async () => {
    writeFileSync(file, 'not a database '.repeat(1_000));
    const storage = make();
    await rejection(storage.start(AbortSignal.timeout(20_000)));
    expect((await storage.health()).ok).toBe(false);
    await rm(file);
    await storage.start(AbortSignal.timeout(20_000));
    expect(await storage.health()).toEqual({ ok: true });
  });
});

describe('a full disk', () => {
  it('refuses the write in a sentence, keeps what was there, and goes on once there is space', async () => {
    const { storage, connection } = await startSeen();
    const { id } = await storage.directory.createOrganization({ name: 'Acme' });
    const { incidents } = storage.workspace(id);
    const [row]: readonly Record<string, unknown>[] = await connection.writer.raw('PRAGMA page_count');
    await connection.writer.raw(`PRAGMA max_page_count = ${Number(row?.['page_count']) + 5}`);
    const large = newIncident({ document: 'x'.repeat(200_000) });
    const error = await rejection(incidents.create(large, ada));
    expect(error).toMatchObject({
      code: 'unavailable',
      operatorMessage: expect.stringContaining(`The storage file ${file} cannot be used: the disk is full.`),
    });
    expect((await incidents.list({ limit: 1 })).items).toEqual([]);
    await connection.writer.raw('PRAGMA max_page_count = 1000000');
    expect((await incidents.create(large, ada)).number).toBe(1);
  });
});

describe('a file that is replaced under the gateway', () => {
  it.each([
    ['deleted', () => rm(file)],
    ['restored from a copy', () => rename(join(directory, 'copy'), file)],
  ] as const)('is told when it was %s, and nothing is acknowledged that would be lost', async (how, replace) => {
    const before = await start();
    const { id } = await before.directory.createOrganization({ name: 'Acme' });
    await before.stop();
    await copyFile(file, join(directory, 'copy'));
    const storage = await start();
    const { incidents, audit } = storage.workspace(id);
    await incidents.create(newIncident(), ada);
    await replace();
    const said = {
      code: 'unavailable',
      operatorMessage: expect.stringContaining(`${file} cannot be used: it was moved, deleted or replaced`),
    };
    expect(await rejection(incidents.create(newIncident(), ada))).toMatchObject(said);
    expect(await rejection(audit.append([newAuditRecord()]))).toMatchObject(said);
    expect(await rejection(storage.directory.createOrganization({ name: 'Beta' }))).toMatchObject(said);
    await storage.stop();
    // As the message says: what is left of the log would be read into the copy.
    for (const beside of ['-wal', '-shm']) await rm(`${file}${beside}`, { force: true });
    expect(await (await start()).directory.organizations()).toHaveLength(how === 'deleted' ? 0 : 1);
  });
});

describe('a schema of a newer version', () => {
  it('is refused by name, and not touched', async () => {
    await (await start()).stop();
    const raw = new DatabaseSync(file);
    raw.exec(`insert into schema_migrations (name, migration_time) values ('9999-future', 0)`);
    const migrations = () => raw.prepare('select name from schema_migrations order by name').all();
    const before = migrations();
    // One after the other: a promise that rejects before it is awaited fails the test by itself.
    for (const open of [() => make().migrate(), () => make().start(AbortSignal.timeout(20_000))]) {
      const error = await rejection(open());
      expect(error).toMatchObject({ code: 'conflict' });
      expect(error instanceof Error && error.message).toContain('9999-future');
    }
    expect(migrations()).toEqual(before);
    raw.close();
  });
});

describe('a store of before people could sign in', () => {
  it('keeps its people and members, as given here', async () => {
    const old = sqlite(file);
    const [id, userId] = [newId('org'), newId('usr')];
    await old.exclusively(async ({ knex: transaction }) => {
      // As versions before this one recorded them.
      await transaction.migrate.latest({
        tableName: 'schema_migrations',
        migrationSource: {
          getMigrations: async () => migrations.filter(([name]) => name < '0008'),
          getMigrationName: ([name]: (typeof migrations)[number]) => name,
          getMigration: async ([, up]: (typeof migrations)[number]) => ({ up, down: async () => {} }),
        },
      });
      await transaction('organizations').insert({ id, name: 'Acme', name_key: 'acme', created_at: 1 });
      const address = { email: 'ada@example.org', email_key: 'ada@example.org' };
      await transaction('users').insert({ id: userId, ...address, name: 'Ada', enabled: true, created_at: 1 });
      await transaction('members').insert({ organization_id: id, user_id: userId, role: 'admin', created_at: 1 });
    });
    await old.close();
    const storage = await start();
    const { people } = storage.directory;
    const user = await people.credentials('ada@example.org');
    expect(user).toEqual({
      user: { id: userId, email: 'ada@example.org', name: 'Ada', enabled: true, createdAt: new Date(1) },
    });
    await people.syncMemberships(userId, []);
    expect(await storage.workspace(id).members.list()).toMatchObject([{ role: 'admin' }]);
  });
});

describe('a lock held by another process', () => {
  it('is waited for without holding up anything else', async () => {
    const storage = await start();
    const { id } = await storage.directory.createOrganization({ name: 'Acme' });
    const key = newKey();
    await storage.workspace(id).keys.create(key);
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    let written = false;
    const writing = storage.directory.createOrganization({ name: 'Later' }).then(() => (written = true));
    // Reads and the event loop go on meanwhile: the timer below fires, and each of these answers.
    for (let turn = 0; turn < 20; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await storage.directory.organizations()).toHaveLength(1);
      expect(await storage.directory.liveKey(key.id, key.secret.id)).toBeDefined();
      expect(written).toBe(false);
    }
    other.exec('COMMIT');
    other.close();
    await writing;
    expect(await storage.directory.organizations()).toHaveLength(2);
  });

  it('does not shut a starting instance out', async () => {
    await (await start()).stop();
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const starting = start();
    setTimeout(() => other.exec('COMMIT'), 200);
    await starting;
    other.close();
  });
});

describe('a search through many rows', () => {
  it('does not hold up the event loop', async () => {
    const storage = await start();
    const { id } = await storage.directory.createOrganization({ name: 'Acme' });
    const { incidents } = storage.workspace(id);
    await incidents.create(newIncident(), ada);
    const copier = new DatabaseSync(file);
    const columns = copier
      .prepare('SELECT name FROM pragma_table_info(?)')
      .all('incidents')
      .map(({ name }) => String(name));
    const values = columns.map((name) =>
      name === 'id' || name === 'number'
        ? `${name} || n`
        : name === 'search_text'
          ? `replace(hex(zeroblob(500)), '00', 'padding ')`
          : name,
    );
    copier.exec(`WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 60000)
      INSERT INTO incidents (${columns.join(', ')}) SELECT ${values.join(', ')} FROM incidents, c`);
    copier.close();
    const search = () => incidents.list({ query: 'word-of-none', limit: 10 });
    // Its connection is open from here.
    await search();

    let [longest, last] = [0, performance.now()];
    const watch = setInterval(() => {
      const now = performance.now();
      [longest, last] = [Math.max(longest, now - last), now];
    }, 1);
    const begun = performance.now();
    expect((await search()).items).toEqual([]);
    const took = performance.now() - begun;
    clearInterval(watch);
    longest = Math.max(longest, performance.now() - last);
    expect(longest).toBeLessThan(took / 2);
  });
});

describe('a list that an index gives', () => {
  it('starts no thread, as a search does', async () => {
    const storage = await start();
    const { id } = await storage.directory.createOrganization({ name: 'Acme' });
    const { incidents } = storage.workspace(id);
    const opened = jest.spyOn(ThreadConnection, 'open');
    try {
      await incidents.list({ blamed: 'payment', until: new Date(), limit: 10 });
      await incidents.list({ statuses: ['open'], since: new Date(0), until: new Date(), limit: 10 });
      expect(opened).not.toHaveBeenCalled();
      await incidents.list({ blamed: 'payment', statuses: ['open'], limit: 10 });
      expect(opened).toHaveBeenCalledTimes(1);
    } finally {
      opened.mockRestore();
    }
  });
});

describe('a transaction that fails', () => {
  it('leaves nothing behind and gives its connection back', async () => {
    const { storage, connection } = await startSeen();
    const before = await connection.reader('locks').select('name');
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await rejection(
        connection.writer.transaction(async (transaction) => {
          await transaction('locks').insert({ name: `half ${attempt}`, taken: 0 });
          throw new Error('changed my mind');
        }),
      );
    }
    const { id } = await storage.directory.createOrganization({ name: 'Acme' });
    expect(id).toMatch(/^org_/);
    expect(await connection.reader('locks').select('name')).toEqual(before);
  });

  it('keeps the values of its statement out of the error, which goes to the log', async () => {
    const storage = await start();
    const { id } = await storage.directory.createOrganization({ name: 'Acme' });
    const raw = new DatabaseSync(file);
    raw.exec('drop table ingest_tokens');
    raw.close();
    const error = await rejection(
      storage.workspace(id).ingestTokens.create({ id: newId('it'), hash: 'H4SH', sealed: 'S34LED', createdBy: 'ada' }),
    );
    expect(inspect(error, { depth: 9 })).not.toMatch(/H4SH|S34LED/);
    expect(error instanceof Error ? error.message : '').not.toContain('ingest_tokens');
  });
});

interface SeenQuery {
  readonly sql: string;
  readonly bindings: readonly unknown[];
  /** Of one statement that is for many. */
  readonly options?: { readonly rows?: readonly (readonly unknown[])[] };
}

describe('the statements of an organization', () => {
  it('all carry its id', async () => {
    const { storage, connection } = await startSeen();
    const { id } = await storage.directory.createOrganization({ name: 'Acme' });
    const user = await storage.directory.createUser({ email: 'ada@example.org', name: 'Ada' });
    const seen: { sql: string; bindings: readonly unknown[] }[] = [];
    for (const knex of [connection.writer, connection.reader]) {
      knex.on('query', ({ sql, bindings, options }: SeenQuery) => {
        if (/^(BEGIN|COMMIT|ROLLBACK)/.test(sql)) return;
        for (const each of options?.rows ?? [bindings]) seen.push({ sql, bindings: each });
      });
    }
    const { keys, members, invitations, grants, ingestTokens, incidents, investigations, chats, audit } =
      storage.workspace(id);
    const key = await keys.create(newKey());
    await keys.addSecret(key.id, newSecret());
    await keys.removeSecret(key.id, 'older');
    await keys.list();
    await keys.markUsed(key.id, key.secrets[0]?.id ?? newId('sec'), new Date());
    await members.add(user.id, 'admin');
    await members.list();
    const [grant, ended] = [newGrant(user.id), newGrant(user.id)];
    for (const each of [grant, ended]) await grants.create(each);
    await grants.list();
    await grants.list(user.id);
    await grants.markUsed(grant.id, new Date());
    await grants.revoke(ended.id);
    await grants.revoke(ended.id, user.id);
    const invitation = newInvitation();
    await invitations.create(invitation);
    await invitations.list();
    await invitations.revoke(invitation.id);
    await members.remove(user.id);
    const token = { id: newId('it'), hash: 'h', sealed: 's', createdBy: 'ada' };
    await ingestTokens.create(token);
    await ingestTokens.current();
    await ingestTokens.revoke(token.id);
    const incident = await incidents.create(newIncident({ fingerprint: 'f', services: ['s'], document: 'd' }), ada);
    await incidents.get('INC-1');
    await incidents.update(incident.id, { services: ['t'], status: 'investigating' }, ada);
    await incidents.writeDocument(incident.id, 'e', ada);
    await incidents.document(incident.id);
    await incidents.timeline(incident.id);
    const filter = {
      statuses: ['open'],
      severities: ['high'],
      waitingOn: ['none', 'a@b'],
      service: 't',
      query: 'fails',
    } as const;
    await incidents.create(newIncident({ services: ['t'] }), ada);
    const { nextCursor = '' } = await incidents.list({ ...filter, since: new Date(0), limit: 1 });
    await incidents.list({ ...filter, since: new Date(0), limit: 1, cursor: nextCursor });
    const { chat, message } = await chats.start(newChat({ incidentId: incident.id, idempotencyKey: 'k' }));
    await chats.reply(chat.id, { message: 'm', author: ada, engine: 'e', idempotencyKey: 'k' });
    await chats.start(newChat({ incidentId: incident.id, idempotencyKey: 'k' }));
    await chats.get(chat.id);
    await chats.start(newChat());
    const page = await chats.list({ createdBy: ada.id, query: 'slow', statuses: ['running'], limit: 1 });
    await chats.list({
      createdBy: ada.id,
      query: 'slow',
      statuses: ['running'],
      limit: 1,
      cursor: page.nextCursor ?? '',
    });
    await chats.messages(chat.id, { limit: 5, afterSeq: 1 });
    await chats.message(chat.id, message.id);
    await chats.changed(chat.id, new Date(0), AbortSignal.timeout(5_000));
    const [investigation] = await investigations.ofChat(chat.id);
    const running = investigation?.id ?? newId('inv');
    await investigations.addStep(running, newStep(1));
    await investigations.steps(running);
    await investigations.get(running);
    await investigations.finish(running, { status: 'completed', conclusion, message: 'm', author: agent });
    await investigations.enqueue({ incidentId: incident.id, engine: 'e' });
    await investigations.enqueue({ chatId: chat.id, engine: 'e' });
    await investigations.ofIncident(incident.id);
    await chats.cancel(chat.id, ada);
    await audit.append([newAuditRecord()]);
    await audit.list({ limit: 5, before: new Date() });
    await keys.revoke(key.id);
    await storage.stop();

    expect(seen.length).toBeGreaterThan(80);
    for (const { sql, bindings } of seen) {
      expect(sql).toMatch(/`organization_id`/);
      expect(bindings).toContain(id);
      // A bare alternative would reach around the condition before it.
      expect(sql.replaceAll(/\((?:[^()]|\([^()]*\))*\)/g, '()')).not.toMatch(/\bor\b/);
    }
  });
});

describe('what a page asks on every request', () => {
  it('is one statement', async () => {
    const { storage, connection } = await startSeen();
    const { directory } = storage;
    const { id } = await directory.createOrganization({ name: 'Acme' });
    const user = await directory.createUser({ email: 'ada@example.org', name: 'Ada' });
    await storage.workspace(id).members.add(user.id, 'admin');
    const session = newSession(user.id, { organizationId: id });
    await directory.sessions.create(session);
    const invitation = newInvitation();
    await storage.workspace(id).invitations.create(invitation);
    const seen: string[] = [];
    for (const knex of [connection.writer, connection.reader]) {
      knex.on('query', ({ sql }: { sql: string }) => void seen.push(sql));
    }
    expect((await directory.sessions.find(session.hash))?.membership?.role).toBe('admin');
    expect(seen.splice(0)).toHaveLength(1);
    expect((await directory.people.invitation(invitation.hash))?.organization.id).toBe(id);
    expect(seen.splice(0)).toHaveLength(1);
  });
});

describe('opening', () => {
  it('gives the file back when it fails half-way', () => {
    writeFileSync(file, 'not a database '.repeat(1_000));
    const before = readdirSync('/dev/fd').length;
    for (let attempt = 0; attempt < 20; attempt += 1) {
      expect(() => openDatabase(file, { blockingMs: 1, readOnly: false })).toThrow();
    }
    expect(readdirSync('/dev/fd').length).toBeLessThan(before + 10);
  });
});
