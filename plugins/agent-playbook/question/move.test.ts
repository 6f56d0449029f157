import { describe, expect, it } from '@jest/globals';
import { readMove } from './conversation.ts';

const looked = { start: new Date('2026-03-01T14:00:00Z'), end: new Date('2026-03-01T14:30:00Z') };

describe('a follow-up that moves the time', () => {
  it.each([
    ['what about yesterday?', '02-28T14:00 02-28T14:30'],
    ['and yesterday', '02-28T14:00 02-28T14:30'],
    ['How about the day before yesterday?', '02-27T14:00 02-27T14:30'],
    ['what about last week', '02-22T14:00 02-22T14:30'],
    ['the hour before', '03-01T13:00 03-01T14:00'],
    ['and the 2 hours before that?', '03-01T12:00 03-01T14:00'],
    ['the hour after', '03-01T14:30 03-01T15:30'],
    ['what about an hour earlier?', '03-01T13:00 03-01T13:30'],
    ['30 minutes later', '03-01T14:30 03-01T15:00'],
    ['two days earlier', '02-27T14:00 02-27T14:30'],
    ['and before that?', '03-01T13:30 03-01T14:00'],
    ['right after that', '03-01T14:30 03-01T15:00'],
    ['look back', '03-01T13:30 03-01T14:00'],
  ])('%s', (text, expected) => {
    const moved = readMove(text, looked);
    expect(moved && `${short(moved.start)} ${short(moved.end)}`).toBe(expected);
  });

  it.each([
    'Yesterday checkout failed all day',
    'why is checkout slow?',
    'between 10:00 and 11:00',
    'the last hour',
    'it was fine before',
    '',
  ])('is not: %s', (text) => {
    expect(readMove(text, looked)).toBeUndefined();
  });
});

function short(time: Date): string {
  return time.toISOString().slice(5, 16);
}
