import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Cursor } from '../../src/contract/telemetry/index.ts';
import { KnownSmall } from './known-small.ts';
import { Pipeline, type Member, type PipelineLease, type QueryRequest } from './pipeline.ts';
import { stepsAfter, StepsBefore } from './steps.ts';
import { described, frame, ready, row, step } from './support/frames.ts';
import { FrameReader } from './wire/frames.ts';

const began = Buffer.concat([step, step]);
const answer = Buffer.concat([frame('2'), described, row, frame('C', 'SELECT 1\0')]);
const ended = Buffer.concat([frame('2'), frame('C', 'ROLLBACK\0'), ready]);
const before = new StepsBefore().of(1_000, 'token');

/** Three statements that were sent together; what the server says is up to the test. */
function sent() {
  const small = new KnownSmall();
  const calls: string[] = [];
  const note = (call: string) => {
    calls.push(call);
    return Promise.resolve();
  };
  const stream = new PassThrough().on('error', () => {});
  const lease: PipelineLease = {
    session: { prepared: new Set(), statements: new Set(), reader: undefined, ended: false, stream },
    release: () => void note('release'),
    giveBack: () => note('giveBack'),
    abandon: () => note('abandon'),
    onAbandon: undefined,
  };
  const answers: (Cursor | 'alone' | undefined)[] = [undefined, undefined, undefined];
  const members = answers.map((_, index): Member => {
    const text = `SELECT ${index}`;
    small.note('acme', text, { bytes: 3, quick: true });
    const known = small.get('acme', text);
    const named = known?.of(undefined);
    if (known === undefined || named === undefined) throw new Error('not known');
    const limits = { maxRows: 10, maxBytes: 1_000_000, maxCellBytes: 1_000, timeoutMs: 1_000 };
    const request: QueryRequest = {
      get connections(): never {
        throw new Error('of no use here');
      },
      tenant: 'acme',
      before,
      text,
      label: undefined,
      after: stepsAfter,
      small,
      limits,
      signal: new AbortController().signal,
      explain: (error) => error,
    };
    return {
      request,
      named,
      known,
      answer: (cursor) => (answers[index] = cursor ?? 'alone'),
    };
  });
  const pipeline = new Pipeline(lease, members, { before, after: stepsAfter }, (late) =>
    calls.push(late ? 'late' : 'over'),
  );
  pipeline.send();
  const frames = new FrameReader(1 << 24);
  return {
    calls,
    settled: () => new Promise(setImmediate),
    stream,
    small,
    session: lease.session,
    arrive: (...parts: readonly Buffer[]) => frames.read(Buffer.concat(parts), pipeline),
    close: () => pipeline.closed(),
    said: () =>
      answers.map((cursor) => {
        if (cursor === undefined || cursor === 'alone') return cursor;
        const chunk = cursor.read();
        return chunk === undefined || chunk instanceof Promise ? 'no rows' : Buffer.from(chunk.json).toString();
      }),
  };
}

describe('statements that went together', () => {
  it('have their rows, and leave the session as it was', () => {
    const { arrive, said, calls, session } = sent();
    arrive(began, answer, answer, answer, ended);
    expect([said(), calls, session.reader]).toEqual([['["a"]', '["a"]', '["a"]'], ['release', 'over'], undefined]);
  });

  it('go alone from the one that fails on, and leave a session that must be cleaned', async () => {
    for (const failure of [
      frame('E', 'SERROR\0C22012\0Mdivision by zero\0\0'),
      Buffer.concat([frame('2'), frame('I')]),
    ]) {
      const { arrive, said, calls, settled } = sent();
      arrive(began, answer, failure, answer, ready);
      await settled();
      expect([said(), calls]).toEqual([
        ['["a"]', 'alone', 'alone'],
        ['giveBack', 'over'],
      ]);
    }
  });

  it('go alone from one on that was no query', async () => {
    const { arrive, said, calls, settled } = sent();
    arrive(began, answer, frame('2'), frame('C', 'DO\0'), answer, ended);
    await settled();
    expect([said(), calls]).toEqual([
      ['["a"]', 'alone', 'alone'],
      ['giveBack', 'over'],
    ]);
  });

  it('go alone where a server says less than it was asked', async () => {
    for (const less of [
      [answer, frame('2'), frame('C', 'SELECT 1\0'), answer, ended],
      [answer, ready],
    ]) {
      const { arrive, said, calls, settled } = sent();
      arrive(began, ...less);
      await settled();
      expect([said(), calls]).toEqual([
        ['["a"]', 'alone', 'alone'],
        ['giveBack', 'over'],
      ]);
    }
  });

  it('go alone where the connection ends', async () => {
    const { arrive, said, calls, close, settled } = sent();
    arrive(began, answer, row);
    close();
    await settled();
    expect([said(), calls]).toEqual([
      ['["a"]', 'alone', 'alone'],
      ['giveBack', 'over'],
    ]);
  });

  it('are not waited for any longer than a moment, also where only the end is missing', async () => {
    const [stalled, silent] = [sent(), sent()];
    stalled.arrive(began, answer);
    silent.arrive(began, answer, answer, answer);
    await sleep(250);
    expect([stalled.said(), stalled.calls]).toEqual([['["a"]', 'alone', 'alone'], ['late']]);
    expect([silent.said(), silent.calls]).toEqual([['["a"]', '["a"]', '["a"]'], ['late']]);
    // After a moment's stall the session is kept.
    stalled.arrive(answer, answer, ended);
    expect(stalled.calls).toEqual(['late', 'release']);
    await sleep(1_100);
    expect([stalled.calls, silent.calls]).toEqual([
      ['late', 'release'],
      ['late', 'abandon'],
    ]);
  });

  it('are not read without end where one has become huge', () => {
    const { arrive, said, stream, small, close } = sent();
    arrive(began, answer, frame('2'), described);
    const large = frame('D', Buffer.concat([Buffer.from([0, 1, 0, 0, 255, 255]), Buffer.alloc(65_535, 'x')]));
    let rows = 0;
    while (!stream.destroyed && rows < 1_000) {
      arrive(large);
      rows += 1;
    }
    expect([stream.destroyed, rows, said()]).toEqual([true, 75, ['["a"]', 'alone', 'alone']]);
    expect(small.get('acme', 'SELECT 1')).toBeUndefined();
    close();
  });
});
