import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { Portal } from './portal.ts';
import { RowSerializer } from './rows.ts';
import type { Reader } from './session.ts';
import { stepsAfter, StepsBefore } from './steps.ts';
import { described, frame, ready, row, step } from './support/frames.ts';
import { FrameReader } from './wire/frames.ts';

const began = Buffer.concat([step, step, frame('1'), frame('2'), described]);
const failed = frame('E', 'SFATAL\0C57P01\0Mgone\0\0');

function sent(small?: number) {
  const stream = new PassThrough();
  const session: {
    prepared: Set<string>;
    statements: Set<string>;
    reader: Reader | undefined;
    ended: boolean;
    stream: PassThrough;
  } = {
    prepared: new Set(),
    statements: new Set(),
    reader: undefined,
    ended: false,
    stream,
  };
  const rows = new RowSerializer({ maxRows: 2_000, maxBytes: 1_000_000, maxCellBytes: 1_000, timeoutMs: 1_000 });
  const before = new StepsBefore().of(1_000, 'token');
  const portal = new Portal({ before, statement: 'SELECT 1', after: stepsAfter, session, small, rows });
  portal.send();
  const frames = new FrameReader(1 << 20);
  const arrive = (...parts: readonly Buffer[]) => frames.read(Buffer.concat(parts), portal);
  return { portal, rows, session, arrive, stream };
}

/** The server's side is played: what comes when is up to it. */
describe('a statement', () => {
  it('has its rows and leaves its session at rest', async () => {
    const { portal, rows, session, arrive } = sent(1);
    const batch = portal.batch();
    arrive(began, row, frame('C', 'SELECT 1\0'), frame('2'), frame('C', 'ROLLBACK\0'), ready);
    await batch;
    expect([portal.complete, portal.atRest, session.reader]).toEqual([true, true, undefined]);
    expect(Buffer.from(rows.take()?.json ?? []).toString()).toBe('["a"]');
  });

  it('fails where its connection ends, before a row, in the middle of one and after it', async () => {
    for (const parts of [[], [began], [began, row, row.subarray(0, 8)], [began, row, frame('s')]]) {
      const { portal, session, arrive } = sent();
      arrive(...parts);
      const batch = portal.batch();
      portal.closed(new Error('gone'));
      await expect(batch).rejects.toThrow('gone');
      expect(() => portal.complete).toThrow('gone');
      expect([portal.atRest, await portal.idle, session.reader]).toEqual([false, false, undefined]);
    }
  });

  it('fails with what the server said last, and not with the end of the connection after it', async () => {
    const { portal, arrive } = sent(1);
    const batch = portal.batch();
    arrive(began, row, failed);
    portal.closed(new Error('the connection ended'));
    await expect(batch).rejects.toMatchObject({ code: '57P01', message: 'gone' });
    expect(portal.atRest).toBe(false);
  });

  it('keeps its rows where only the end of its transaction fails, but not the session', async () => {
    const { portal, rows, arrive } = sent(1);
    const batch = portal.batch();
    arrive(began, row, frame('C', 'SELECT 1\0'), failed, ready);
    await batch;
    expect([portal.complete, portal.atRest, rows.take()?.rows]).toEqual([true, false, 1]);
  });

  it.each(['INSERT 0 1', 'DO', 'SELECTED 1', 'PREPARE'])(
    'leaves no session that may be kept where it was %s',
    async (tag) => {
      const { portal, arrive } = sent(1);
      arrive(began, frame('C', `${tag}\0`), frame('2'), frame('C', 'ROLLBACK\0'), ready);
      await portal.batch();
      expect(portal.atRest).toBe(false);
    },
  );

  it('leaves none either where the server did not roll back', async () => {
    const { portal, arrive } = sent(1);
    arrive(began, frame('C', 'SELECT 0\0'), frame('2'), frame('C', 'COMMIT\0'), ready);
    await portal.batch();
    expect(portal.atRest).toBe(false);
  });

  it('is not sent where the connection has ended already', async () => {
    const { portal, session, arrive } = sent();
    arrive(began);
    session.ended = true;
    portal.send();
    await expect(portal.batch()).rejects.toThrow('ended');
  });

  it('ends its connection at a row that is none, and where it copies', async () => {
    for (const part of [frame('D', Buffer.from('\0\x05', 'latin1')), frame('G', '\0\0\0'), frame('H', '\0\0\0')]) {
      const { arrive, stream } = sent();
      stream.on('error', () => {});
      arrive(began, part);
      expect(stream.destroyed).toBe(true);
    }
  });
});
