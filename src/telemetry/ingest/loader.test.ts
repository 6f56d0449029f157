import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SightlineError, newId } from '../../contract/core/index.ts';
import { IngestLog } from './ingest-log.ts';
import { Loader } from './loader.ts';
import { MemorySink, silent, until } from '../../../test/support/otlp/gateway.ts';
import { decode } from '../../../test/support/otlp/rows.ts';

const organizationId = newId('org');
let directory = '';
let log: IngestLog;
let sink: MemorySink;
let loader: Loader;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sightline-loader-'));
  sink = new MemorySink();
  await open();
});
afterEach(async () => {
  await loader.stop(100);
  await log.close();
  await rm(directory, { recursive: true, force: true });
});

async function open(): Promise<void> {
  log = await IngestLog.open(directory, 'log', silent);
  loader = new Loader(organizationId, log, sink, silent);
}

/** As after a restart: of a log that it finds the gateway asks the warehouse for its position. */
async function openAgain(): Promise<void> {
  await log.close();
  await open();
}

async function append(...bodies: string[]): Promise<void> {
  for (const body of bodies) {
    const request = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: body } }] }] }] };
    const { batches } = decode('logs', 'json', Buffer.from(JSON.stringify(request)), Date.now());
    await log.append(batches);
    loader.notify(1);
  }
}

describe('loader', () => {
  it('loads what waits and what comes, together in one load when it comes close together', async () => {
    await append('a', 'b');
    loader.start();
    await append('c');
    await until(() => sink.rows.length === 3, 'three rows');
    expect(sink.loads).toBe(1);
    await append('d');
    await until(() => sink.rows.length === 4, 'the fourth');
    expect(sink.names()).toEqual(['a', 'b', 'c', 'd']);
    expect(loader.behindBytes).toBe(0);
  });

  it('doubles nothing when a load was committed but its answer was lost', async () => {
    let lost = 0;
    sink.after = () => {
      lost += 1;
      if (lost <= 2) throw new Error('the connection broke');
    };
    await append('a', 'b');
    loader.start();
    await until(() => lost === 1, 'the first answer lost');
    await append('c');
    await until(() => sink.rows.length === 3 && loader.behindBytes === 0, 'everything');
    expect(sink.names()).toEqual(['a', 'b', 'c']);
  });

  it('loses nothing when the warehouse is away for a while', async () => {
    let tries = 0;
    sink.before = () => {
      tries += 1;
      if (tries <= 2) throw new SightlineError('telemetry_unavailable', 'away');
    };
    await append('a', 'b');
    loader.start();
    await until(() => loader.failure !== undefined, 'a failure seen');
    await until(() => sink.rows.length === 2, 'both rows');
    await until(() => loader.failure === undefined, 'the failure forgotten');
  });

  it('sets one batch that can never be loaded aside, and loads all around it', async () => {
    sink.before = ({ batches }) => {
      if (batches.some((frame) => Buffer.from(frame).includes('poison'))) {
        throw new SightlineError('invalid_argument', 'no such batch');
      }
    };
    await append('a', 'poison', 'b');
    loader.start();
    await until(() => sink.rows.length === 2 && loader.behindBytes === 0, 'the other two');
    expect(sink.names()).toEqual(['a', 'b']);
    expect((await readdir(join(directory, 'log'))).filter((name) => name.startsWith('refused-'))).toHaveLength(1);
  });

  it('loads a log from its start when the warehouse is ahead of it, rather than lose what comes', async () => {
    sink.positions.set(`${organizationId}/log`, { segment: 9, offset: 100 });
    await openAgain();
    await append('a');
    loader.start();
    await until(() => sink.rows.length === 1, 'the row');
  });

  it('asks for the position in the turn of the first load, and of a new log never', async () => {
    const calls: string[] = [];
    sink.hold = async () => {
      calls.push('hold');
      return () => calls.push('release');
    };
    const { committed } = sink;
    sink.committed = (...args) => {
      calls.push('committed');
      return committed.apply(sink, args);
    };
    sink.before = () => void calls.push('load');
    loader.start();
    await append('a');
    await until(() => calls.includes('release'), 'the load of the new log');
    expect(calls).toEqual(['hold', 'load', 'release']);

    await loader.stop(100);
    calls.length = 0;
    await openAgain();
    await append('b');
    loader.start();
    await until(() => calls.includes('release'), 'the load after the restart');
    expect(calls).toEqual(['hold', 'committed', 'load', 'release']);
    expect(sink.names()).toEqual(['a', 'b']);
  });

  it('lets a running load end when it is stopped, and aborts one that does not', async () => {
    let release: () => void = () => undefined;
    sink.before = () => new Promise<void>((resolve) => (release = resolve));
    await append('a');
    loader.start();
    await until(() => sink.loads === 1, 'the load begun');
    const stopped = loader.stop(10_000);
    release();
    await stopped;
    expect(sink.names()).toEqual(['a']);
  });

  it('loses nothing when the warehouse is ahead of the log, as after an older copy of it was put back', async () => {
    sink.positions.set(`${organizationId}/log`, { segment: 9, offset: 9 });
    await openAgain();
    await append('a');
    loader.start();
    await append('b');
    await until(() => sink.rows.length >= 2, 'both rows');
    expect(new Set(sink.names())).toEqual(new Set(['a', 'b']));
    // Under another name, which the next start finds.
    expect(log.name).not.toBe('log');
    expect(await readdir(directory)).toEqual([log.name]);
    await append('c');
    await until(() => sink.names().includes('c'), 'the third');
    expect(sink.names()).toHaveLength(3);
  });
});
