import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { OrganizationId } from '../../src/contract/core/index.ts';
import { rejection } from '../../test/contract/runner.ts';
import { batch, createTelemetry, Harness, newOrganization } from './support/harness.ts';

const row = (name: string) => ({ time: new Date(), start_time: new Date(), end_time: new Date(), name });
const busy = 'SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = 7';

let directory: string;
const open: Harness[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sl-engine-'));
});
afterEach(async () => {
  for (const harness of open.splice(0)) await harness.stop();
  await rm(directory, { recursive: true, force: true });
});

async function gateway(config: object = {}): Promise<Harness> {
  const harness = await Harness.start(config, directory);
  open.push(harness);
  return harness;
}

/** Engine processes of this data directory, found as an operator would. */
async function engines(organizationId?: OrganizationId): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const line = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    const state = (await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')).split(') ')[1]?.[0];
    if (state === 'Z' || !/\0[^\0]*engine\/main\.ts\0/.test(line) || line.startsWith('/bin/sh')) continue;
    if (line.includes(directory) && line.includes(organizationId ?? '')) found.push(Number(name));
  }
  return found;
}

async function sessionOf(pid: number): Promise<string | undefined> {
  return (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ')[3];
}

/** How many of them have a database open. */
async function openFiles(): Promise<number> {
  const pids = await engines();
  const open = await Promise.all(
    pids.map(async (pid) => {
      const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
      const files = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
      return files.some((file) => file.endsWith('.duckdb'));
    }),
  );
  return open.filter(Boolean).length;
}

async function formatOf(instance: DuckDBInstance): Promise<unknown> {
  const connection = await instance.connect();
  const tags = await connection.runAndReadAll(
    "SELECT tags['storage_version'] FROM duckdb_databases() WHERE NOT internal",
  );
  connection.closeSync();
  return tags.getRows()[0]?.[0];
}

/** As a client does that is told when to come back. */
async function askUntilThereIsRoom(harness: Harness, organizationId: OrganizationId, sql: string): Promise<unknown> {
  for (;;) {
    try {
      return (await harness.query(organizationId, sql)).rows[0]?.[0];
    } catch (error) {
      expect(error).toMatchObject({ code: 'telemetry_unavailable', retryAfterSeconds: 2 });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was gone already.
  }
}

async function until(condition: () => Promise<boolean>): Promise<boolean> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    if (await condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return false;
}

describe('engine processes', () => {
  it('are one an organization, with nothing of the gateway in their environment, and end with it', async () => {
    process.env['SIGHTLINE_ENGINE_SECRET'] = 'do-not-pass-on';
    const harness = await gateway();
    const organizations = [newOrganization(), newOrganization()];
    for (const organizationId of organizations) await harness.query(organizationId, 'SELECT 1');
    await harness.query(newOrganization(), 'SELECT 1');
    const pids = await engines();
    expect(pids).toHaveLength(3);
    for (const pid of pids) {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
      expect(environment).not.toContain('do-not-pass-on');
      expect(environment).not.toMatch(/(^|\0)(HOME|PATH|USER)=/);
      expect(await readFile(`/proc/${pid}/limits`, 'utf8')).toMatch(/Max address space +4096000000/);
    }
    await harness.telemetry.stop();
    delete process.env['SIGHTLINE_ENGINE_SECRET'];
    expect(await engines()).toEqual([]);
  });

  it('come second to the gateway where both want the processors, in its session, which Linux may weigh as one', async () => {
    const harness = await gateway();
    await harness.query(newOrganization(), 'SELECT 1');
    const [pid = 0] = await engines();
    const threads = await readdir(`/proc/${pid}/task`);
    expect(threads.length).toBeGreaterThan(1);
    for (const thread of threads) expect(getPriority(Number(thread))).toBe(Math.min(19, getPriority() + 7));
    expect(await sessionOf(pid)).toBe(await sessionOf(process.pid));
  });

  it('are not ended by what a terminal sends to all of its processes', async () => {
    const harness = await gateway();
    const organizationId = newOrganization();
    await harness.query(organizationId, 'SELECT 1');
    const [pid = 0] = await engines();
    const answer = harness.query(organizationId, 'SELECT count(*) FROM range(30000000)');
    for (const signal of ['SIGINT', 'SIGHUP'] as const) process.kill(pid, signal);
    expect((await answer).rows).toEqual([['30000000']]);
    expect(await engines()).toEqual([pid]);
  });

  it('leave a file that needs no replay, which is for this user alone', async () => {
    const harness = await gateway();
    const organizationId = newOrganization();
    await harness.load(organizationId, 'logs', [row('a')]);
    await harness.telemetry.stop();
    const folder = join(directory, 'telemetry', organizationId);
    expect((await readdir(folder)).filter((name) => name !== 'tmp')).toEqual(['telemetry.duckdb']);
    expect((await stat(join(folder, 'telemetry.duckdb'))).mode & 0o077).toBe(0);
    expect((await stat(folder)).mode & 0o077).toBe(0);
    expect((await stat(join(directory, 'run'))).mode & 0o077).toBe(0);
  });

  it('leave such a file also to a gateway that leaves right after an answer, whose transaction has not ended yet', async () => {
    const organizationId = newOrganization();
    const left: (readonly string[])[] = [];
    for (let round = 0; round < 10; round += 1) {
      const harness = await gateway();
      await harness.load(organizationId, 'logs', [row(`${round}`)]);
      const answers = Array.from({ length: 4 }, () => harness.query(organizationId, 'SELECT count(*) FROM otel.logs'));
      for (const { rows } of await Promise.all(answers)) expect(rows).toEqual([[String(round + 1)]]);
      await harness.telemetry.stop();
      left.push((await readdir(join(directory, 'telemetry', organizationId))).filter((name) => name !== 'tmp'));
    }
    expect(left).toEqual(Array.from({ length: 10 }, () => ['telemetry.duckdb']));
  });

  it('are shared by gateways on one data directory, and outlive the one that started them', async () => {
    const [first, second] = [await gateway(), await gateway()];
    const organizationId = newOrganization();
    await Promise.all([
      first.load(organizationId, 'logs', [{ ...row('a'), body: 'a' }], 1),
      second.query(organizationId, 'SELECT 1'),
    ]);
    expect(await until(async () => (await engines()).length === 1)).toBe(true);
    const [pid] = await engines();
    await first.telemetry.stop();
    expect((await second.query(organizationId, 'SELECT body FROM otel.logs')).rows).toEqual([['a']]);
    expect(await engines()).toEqual([pid]);
    await second.telemetry.stop();
    expect(await until(async () => (await engines()).length === 0)).toBe(true);
  });

  it('never open one file twice, however many ask at once', async () => {
    const gateways = await Promise.all([gateway(), gateway(), gateway()]);
    const organizationId = newOrganization();
    const answers = await Promise.all(
      gateways.flatMap((harness) =>
        Array.from({ length: 5 }, (_, index) => harness.query(organizationId, `SELECT ${index}`)),
      ),
    );
    expect(answers.map((answer) => answer.rows[0]?.[0])).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
    expect(await until(async () => (await engines()).length === 1)).toBe(true);
  });

  it('are at most so many: the longest unused one makes room, a busy one when it is done', async () => {
    const harness = await gateway({ openEngines: 2 });
    const [a, b, c, d] = [newOrganization(), newOrganization(), newOrganization(), newOrganization()];
    await harness.query(a, 'SELECT 1');
    await harness.query(b, 'SELECT 1');
    await harness.query(c, 'SELECT 1');
    expect(await until(async () => (await engines(a)).length === 0)).toBe(true);
    expect([(await engines(b)).length, (await engines(c)).length]).toEqual([1, 1]);
    const controller = new AbortController();
    const options = { signal: controller.signal, limits: { timeoutMs: 60_000 } };
    const work = [rejection(harness.run(b, busy, options)), rejection(harness.run(c, busy, options))];
    const refused = rejection(harness.query(d, 'SELECT 1'));
    expect(await refused).toMatchObject({ code: 'telemetry_unavailable', retryAfterSeconds: 2 });
    const waiting = harness.query(d, 'SELECT 1');
    controller.abort();
    expect((await waiting).rows).toEqual([[1]]);
    await Promise.all(work);
  }, 120_000);

  it('make room once they are left, however often they were used, before one that has just begun', async () => {
    const harness = await gateway({ openEngines: 2 });
    const [often, begun, next] = [newOrganization(), newOrganization(), newOrganization()];
    for (const end = Date.now() + 11_000; Date.now() < end; await sleep(100)) await harness.query(often, 'SELECT 1');
    await sleep(3_000);
    await harness.query(begun, 'SELECT 1');
    await harness.query(next, 'SELECT 1');
    expect(await until(async () => (await engines(often)).length === 0)).toBe(true);
    expect([(await engines(begun)).length, (await engines(next)).length]).toEqual([1, 1]);
  }, 60_000);

  it('are at most so many for all who share a data directory', async () => {
    const gateways = [await gateway({ openEngines: 2 }), await gateway({ openEngines: 2 })];
    const organizations = Array.from({ length: 4 }, newOrganization);
    for (const organizationId of organizations.slice(0, 2)) await gateways[0]?.query(organizationId, 'SELECT 1');
    let over = false;
    let most = await openFiles();
    expect(most).toBe(2);
    const watch = (async () => {
      while (!over) {
        most = Math.max(most, await openFiles());
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    let answers: unknown[];
    try {
      answers = await Promise.all(
        organizations.flatMap((organizationId, index) =>
          gateways.map((harness, at) =>
            // Long enough to be seen.
            askUntilThereIsRoom(
              harness,
              organizationId,
              `SELECT ${index * 2 + at} + CAST(0 * max(range) AS INTEGER) FROM range(30000000)`,
            ),
          ),
        ),
      );
    } finally {
      over = true;
      await watch;
    }
    expect(answers).toEqual(Array.from({ length: 8 }, (_, index) => index));
    expect(most).toBe(2);
  });

  it('are not left without a user where two gateways started one at once', async () => {
    const gateways = [await gateway({ openEngines: 1 }), await gateway({ openEngines: 1 })];
    for (let round = 0; round < 16; round += 1) {
      const organizationId = newOrganization();
      // An engine that nobody knows of would keep the only seat for longer than the next organization waits.
      const answers = gateways.map(async (harness) => (await harness.query(organizationId, `SELECT ${round}`)).rows);
      expect(await Promise.all(answers)).toEqual([[[round]], [[round]]]);
    }
  });

  it('leave their place to who waits where they could not be opened', async () => {
    const harness = await gateway({ openEngines: 1 });
    const [damaged, waiting] = [newOrganization(), newOrganization()];
    await mkdir(join(directory, 'telemetry', damaged), { recursive: true });
    await writeFile(join(directory, 'telemetry', damaged, 'telemetry.duckdb'), 'no database');
    const failed = rejection(harness.query(damaged, 'SELECT 1'));
    const answered = harness.query(waiting, 'SELECT 2');
    expect(await failed).toMatchObject({ message: expect.stringContaining('cannot be read') });
    expect((await answered).rows).toEqual([[2]]);
  });

  it('leave for another organization, which is asked for elsewhere, unless they are in use', async () => {
    const [one, other] = [await gateway({ openEngines: 2 }), await gateway({ openEngines: 2 })];
    const [a, b, c] = [newOrganization(), newOrganization(), newOrganization()];
    await one.query(b, 'SELECT 1');
    await one.query(a, 'SELECT 1');
    const controller = new AbortController();
    // But for this, that one would be the longest unused.
    const work = rejection(one.run(b, busy, { signal: controller.signal, limits: { timeoutMs: 60_000 } }));
    expect((await one.query(a, 'SELECT 2')).rows).toEqual([[2]]);
    expect((await other.query(c, 'SELECT 3')).rows).toEqual([[3]]);
    expect([(await engines(a)).length, (await engines(b)).length, (await engines(c)).length]).toEqual([0, 1, 1]);
    controller.abort();
    expect(await work).toMatchObject({ code: 'query_cancelled' });
    expect((await one.query(a, 'SELECT 4')).rows).toEqual([[4]]);
  });

  it('end when nobody asks for a while, and start again', async () => {
    const harness = await gateway({ idleSeconds: 1 });
    const organizationId = newOrganization();
    await harness.load(organizationId, 'logs', [{ ...row('x'), body: 'kept' }]);
    expect(await until(async () => (await engines()).length === 0)).toBe(true);
    expect((await harness.query(organizationId, 'SELECT body FROM otel.logs')).rows).toEqual([['kept']]);
  });

  it('run so many queries at once and let so many wait; the rest is told when to come back', async () => {
    const harness = await gateway();
    const organizationId = newOrganization();
    // Many times over: an answered query ends its transaction after its answer, and its turn is another's by then.
    for (let time = 0; time < 40; time += 1) {
      expect((await harness.query(organizationId, 'SELECT 2')).rows).toEqual([[2]]);
      const controller = new AbortController();
      const running = Array.from({ length: 36 }, () =>
        rejection(harness.run(organizationId, busy, { signal: controller.signal })),
      );
      expect(await rejection(harness.run(organizationId, busy))).toMatchObject({
        code: 'telemetry_unavailable',
        retryAfterSeconds: 3,
      });
      controller.abort();
      for (const error of await Promise.all(running)) expect(error).toMatchObject({ code: 'query_cancelled' });
    }
  });
});

describe('a query that does not stop', () => {
  it('ends its engine, whose other queries may be sent again, and nobody else’s', async () => {
    const harness = await gateway();
    const [organizationId, neighbour] = [newOrganization(), newOrganization()];
    await harness.query(neighbour, 'SELECT 1');
    await harness.query(organizationId, 'SELECT 1');
    const [before] = await engines(organizationId);
    const [untouched] = await engines(neighbour);
    const stubborn = "SELECT levenshtein(repeat('a', 60000), repeat('b', 60000))";
    const [stopped, bystander] = await Promise.all([
      rejection(harness.run(organizationId, stubborn, { limits: { timeoutMs: 300 } })),
      rejection(harness.run(organizationId, busy)),
    ]);
    expect(stopped).toMatchObject({ code: 'query_timeout' });
    expect(bystander).toMatchObject({ code: 'telemetry_unavailable', retryAfterSeconds: 1 });
    expect((await harness.query(organizationId, 'SELECT 1')).rows).toEqual([[1]]);
    expect(await engines(organizationId)).not.toEqual([before]);
    expect(await engines(neighbour)).toEqual([untouched]);
  });
});

/** An organization with its engine, whose file is open. */
async function running() {
  const harness = await gateway();
  const organizationId = newOrganization();
  const { sink } = harness.telemetry;
  if (sink?.newest === undefined) throw new Error('no sink');
  await sink.committed(organizationId, 'log');
  return { harness, organizationId, sink, newest: sink.newest.bind(sink), before: await engines(organizationId) };
}

describe('what is given up while it waits for a load to end', () => {
  it('leaves the load and the engine as they are', async () => {
    const { harness, organizationId, sink, newest, before } = await running();
    const rows = Array.from({ length: 10_000 }, (_, index) => ({
      ...row(`r${index}`),
      attributes: { id: `${index}` },
    }));
    // Longer than an engine bears what does not stop.
    const batches = Array.from({ length: 40 }, () => batch('spans', rows));
    const { signal } = new AbortController();
    const loading = sink.load({ organizationId, log: 'log', batches, upTo: { segment: 1, offset: 1 } }, signal);
    let ended: number | undefined;
    const done = loading.then(() => (ended = performance.now()));
    await rejection(sink.retain(organizationId, new Date(0), AbortSignal.timeout(100)));
    const givenUp = performance.now();
    // What only reads does not wait at all.
    await newest(organizationId, signal);
    expect(ended).toBeUndefined();
    expect((await done) - givenUp).toBeGreaterThan(1_200);
    expect(await engines(organizationId)).toEqual(before);
    expect((await harness.query(organizationId, 'SELECT count(*) FROM otel.spans')).rows).toEqual([['400000']]);
  }, 60_000);
});

describe('an engine that stands still', () => {
  it('goes on where it was once it can, and what was given up meanwhile was answered in time', async () => {
    const { organizationId, sink, newest, before } = await running();
    before.forEach((pid) => process.kill(pid, 'SIGSTOP'));
    const batches = [batch('spans', [row('kept')])];
    const { signal } = new AbortController();
    const loading = sink.load({ organizationId, log: 'log', batches, upTo: { segment: 1, offset: 1 } }, signal);
    const began = performance.now();
    await rejection(newest(organizationId, AbortSignal.timeout(100)));
    expect(performance.now() - began).toBeLessThan(5_000);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    before.forEach((pid) => process.kill(pid, 'SIGCONT'));
    await loading;
    expect(await engines(organizationId)).toEqual(before);
  });

  it('is ended when it does not, and another takes over', async () => {
    const harness = await gateway();
    const organizationId = newOrganization();
    await harness.query(organizationId, 'SELECT 1');
    const before = await engines(organizationId);
    before.forEach((pid) => process.kill(pid, 'SIGSTOP'));
    await rejection(harness.query(organizationId, 'SELECT 1', { signal: AbortSignal.timeout(100) }));
    const isGone = async () => (await engines(organizationId)).every((pid) => !before.includes(pid));
    // Twice as long as anything else is waited for.
    expect((await until(isGone)) || (await until(isGone))).toBe(true);
    expect((await harness.query(organizationId, 'SELECT 2')).rows).toEqual([[2]]);
  });
});

describe('a batch that can never be stored', () => {
  it('is told from a warehouse that cannot take it now, and the next one is loaded', async () => {
    const harness = await gateway();
    const organizationId = newOrganization();
    const load = (bytes: Uint8Array, offset: number) =>
      harness.telemetry.sink?.load(
        { organizationId, log: 'log', batches: [bytes], upTo: { segment: 1, offset } },
        new AbortController().signal,
      );
    await expect(load(Buffer.from('no frame'), 1)).rejects.toMatchObject({ code: 'invalid_argument' });
    await load(batch('logs', [row('good')]), 2);
    expect((await harness.query(organizationId, 'SELECT count(*) FROM otel.logs')).rows).toEqual([['1']]);
  });
});

describe('a crash', () => {
  it('of the engine under load loses and doubles nothing, and work goes on', async () => {
    const harness = await gateway();
    const organizationId = newOrganization();
    const { sink } = harness.telemetry;
    if (!sink) throw new Error('no sink');
    await sink.committed(organizationId, 'log');
    let at = 0;
    let kills = 0;
    const rows = Array.from({ length: 1_000 }, (_, index) => ({ ...row(`r${index}`), attributes: { k: 'v' } }));
    const end = 60;
    const killer = setInterval(() => {
      if (kills >= 4) return;
      kills += 1;
      void engines(organizationId).then((pids) => pids.forEach(kill));
    }, 150);
    // As the receiver does: after a failure it asks where the log stands, and goes on from there.
    while (at < end) {
      try {
        await sink.load(
          { organizationId, log: 'log', batches: [batch('spans', rows)], upTo: { segment: 1, offset: at + 1 } },
          new AbortController().signal,
        );
        at += 1;
      } catch (error) {
        expect(error).toMatchObject({ code: 'telemetry_unavailable' });
        // The engine asked may be killed, too.
        at = (await sink.committed(organizationId, 'log').catch(() => ({ offset: at })))?.offset ?? 0;
      }
    }
    clearInterval(killer);
    expect(kills).toBeGreaterThan(0);
    const { rows: counted } = await harness.query(
      organizationId,
      'SELECT count(*), count(DISTINCT name) FROM otel.spans',
    );
    expect(counted).toEqual([[String(end * 1_000), '1000']]);
    expect(await sink.committed(organizationId, 'log')).toEqual({ segment: 1, offset: end });
  });

  it('between two queries is not noticed by the second, however soon it comes', async () => {
    const harness = await gateway();
    const organizationId = newOrganization();
    await harness.load(organizationId, 'logs', [{ time: new Date(), body: 'there' }], 1);
    for (let round = 0; round < 3; round += 1) {
      (await engines(organizationId)).forEach(kill);
      const { rows } = await harness.query(organizationId, 'SELECT body FROM otel.logs');
      expect(rows).toEqual([['there']]);
    }
  });

  it('of the gateway leaves nothing behind: a new one is served at once, over a stale socket too', async () => {
    const organizationId = newOrganization();
    const script = join(directory, 'gateway.ts');
    const harnessUrl = new URL('./support/harness.ts', import.meta.url).href;
    await writeFile(
      script,
      `import { Harness } from '${harnessUrl}';
       const harness = await Harness.start({}, process.argv[2]);
       await harness.load(process.argv[3], 'logs', [{ time: new Date(), body: 'durable' }], 1);
       void harness.run(process.argv[3], '${busy}').catch(() => {});
       console.log('ready');
       setInterval(() => {}, 1000);`,
    );
    const child = spawn(process.execPath, [script, directory, organizationId], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    const [orphan] = await engines(organizationId);
    child.kill('SIGKILL');
    const harness = await gateway();
    expect((await harness.query(organizationId, 'SELECT body FROM otel.logs')).rows).toEqual([['durable']]);
    // The query that the dead gateway left ends with its engine or is interrupted in it.
    expect(orphan).toBeGreaterThan(0);
    await harness.telemetry.stop();
    expect(await until(async () => (await engines(organizationId)).length === 0)).toBe(true);

    await writeFile(join(directory, 'run', `${organizationId}.sock`), '');
    const again = await gateway();
    expect((await again.query(organizationId, 'SELECT body FROM otel.logs')).rows).toEqual([['durable']]);
  });
});

describe('the file', () => {
  it('that is damaged is named, and is nobody else’s trouble', async () => {
    const harness = await gateway();
    const organizationId = newOrganization();
    await mkdir(join(directory, 'telemetry', organizationId), { recursive: true });
    await writeFile(
      join(directory, 'telemetry', organizationId, 'telemetry.duckdb'),
      'this is not a database'.repeat(1_000),
    );
    const error = await rejection(harness.query(organizationId, 'SELECT 1'));
    expect(error).toMatchObject({
      code: 'telemetry_unavailable',
      message: `The telemetry file telemetry/${organizationId}/telemetry.duckdb cannot be read.`,
    });
    expect((await harness.query(newOrganization(), 'SELECT 1')).rows).toEqual([[1]]);
    expect(await engines(organizationId)).toEqual([]);
  });

  it('is loaded less often where more organizations send than engines may be open, and the operator is told', async () => {
    const said: unknown[] = [];
    const logger = {
      debug() {},
      info() {},
      error() {},
      warn: (fields: unknown) => said.push(fields),
      child: () => logger,
    };
    const harness = await Harness.start({ openEngines: 2 }, directory, logger);
    open.push(harness);
    const { sink } = harness.telemetry;
    const [busyOne, ...others] = Array.from({ length: 3 }, newOrganization);
    for (const id of [busyOne, ...others]) if (id) await harness.load(id, 'logs', [row('a')], 1);
    expect(others.map((id) => sink?.gatherMs?.(id))).toEqual([1_000, 1_000]);
    expect(await harness.telemetry.health(new AbortController().signal)).not.toHaveProperty('degraded');
    expect(busyOne && sink?.gatherMs?.(busyOne)).toBe(10_000);
    expect(await harness.telemetry.health(new AbortController().signal)).toMatchObject({
      ok: true,
      degraded: true,
      detail: expect.stringContaining('raise telemetry.openEngines'),
    });
    expect(said).toEqual([{ senders: 3, openEngines: 2 }]);
  });

  it('of an old format is written again in the newest, with all that is in it, when no engine has it', async () => {
    const organizationId = newOrganization();
    const file = join(directory, 'telemetry', organizationId, 'telemetry.duckdb');
    await mkdir(dirname(file), { recursive: true });
    const instance = await DuckDBInstance.create(file);
    expect(await formatOf(instance)).toBe('v1.0.0+');
    instance.closeSync();
    const harness = await gateway();
    await harness.load(
      organizationId,
      'spans',
      Array.from({ length: 5_000 }, (_, index) => row(`${index}`)),
      7,
    );
    const all = 'SELECT count(*), sum(hash(s)), (SELECT count(*) FROM otel.logs) FROM otel.spans s';
    const before = await harness.query(organizationId, all);
    expect(await rejection(Promise.resolve(harness.telemetry.compact?.(organizationId)))).toMatchObject({
      code: 'conflict',
    });
    await harness.telemetry.stop();
    // Of a compaction that was killed.
    await writeFile(`${file}.compact`, 'half');
    const sizes = await harness.telemetry.compact?.(organizationId);
    expect(sizes?.after).toBeLessThanOrEqual(sizes?.before ?? 0);
    expect((await readdir(dirname(file))).toSorted()).toEqual(['telemetry.duckdb']);
    await harness.telemetry.start(AbortSignal.timeout(10_000));
    expect((await harness.query(organizationId, all)).rows).toEqual(before.rows);
    expect(await harness.telemetry.sink?.committed(organizationId, 'test')).toEqual({ segment: 1, offset: 7 });
    expect(await harness.telemetry.compact?.(newOrganization())).toBeUndefined();
    await harness.telemetry.stop();
    const again = await DuckDBInstance.create(file);
    expect(await formatOf(again)).not.toBe('v1.0.0+');
    again.closeSync();
  });

  it('does not grow when retention makes room', async () => {
    const harness = await gateway();
    const organizationId = newOrganization();
    const path = join(directory, 'telemetry', organizationId, 'telemetry.duckdb');
    const rows = (time: Date) =>
      Array.from({ length: 10_000 }, (_, index) => ({
        ...row(`${index}-${Math.random()}`),
        time,
        attributes: { id: String(Math.random()) },
      }));
    const sizes: number[] = [];
    for (let day = 1; day <= 16; day += 1) {
      await harness.load(organizationId, 'spans', rows(new Date(Date.UTC(2026, 0, day))), day);
      await harness.telemetry.sink?.retain(
        organizationId,
        new Date(Date.UTC(2026, 0, day)),
        new AbortController().signal,
      );
      sizes.push((await stat(path)).size);
    }
    expect((await harness.query(organizationId, 'SELECT count(*) FROM otel.spans')).rows).toEqual([['10000']]);
    // Free blocks come and go by the quarter megabyte, so the largest of each half are compared; unused ones would double it.
    expect(Math.max(...sizes.slice(8))).toBeLessThan(Math.max(...sizes.slice(0, 8)) * 1.5);
    // 160,000 spans are made, loaded and deleted: on a machine with other work that takes its time.
  }, 120_000);

  it('that cannot grow takes nothing half, and says so', async () => {
    const organizationId = newOrganization();
    const script = join(directory, 'full.ts');
    const url = (path: string) => fileURLToPath(new URL(path, import.meta.url));
    await writeFile(
      script,
      `import { createTelemetry, batch } from '${url('./support/harness.ts')}';
       const telemetry = createTelemetry(process.argv[2]);
       await telemetry.start(new AbortController().signal);
       const organizationId = process.argv[3];
       const rows = Array.from({ length: 5000 }, () => ({ time: new Date(), body: String(Math.random()).repeat(40) }));
       let loaded = 0;
       let failure;
       while (!failure && loaded < 200) {
         try {
           await telemetry.sink.load({ organizationId, log: 'l', batches: [batch('logs', rows)], upTo: { segment: 1, offset: loaded + 1 } }, new AbortController().signal);
           loaded += 1;
         } catch (error) { failure = error.code; }
       }
       const committed = await telemetry.sink.committed(organizationId, 'l').catch((error) => error.code);
       console.log(JSON.stringify({ loaded, failure, committed }));
       await telemetry.stop();`,
    );
    // A limit on the size of files stands for a full disk: writing fails in the same place.
    const child = spawn(
      '/bin/sh',
      ['-c', `trap '' XFSZ; ulimit -f 20000; exec "$@"`, 'sh', process.execPath, script, directory, organizationId],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
    await once(child, 'exit');
    const { loaded, failure } = JSON.parse(output);
    expect(failure).toBe('telemetry_full');
    expect(loaded).toBeGreaterThan(0);
    const harness = await gateway();
    const { rows } = await harness.query(organizationId, 'SELECT count(*) FROM otel.logs');
    expect(rows).toEqual([[String(loaded * 5_000)]]);
    expect(await harness.telemetry.sink?.committed(organizationId, 'l')).toEqual({ segment: 1, offset: loaded });
  });
});

it('refuses a configuration key that does not exist', () => {
  expect(() => createTelemetry(directory, { memoryLimit: 5 })).toThrow(/memoryLimit/);
});
