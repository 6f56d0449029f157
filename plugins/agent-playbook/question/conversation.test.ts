import { describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/contract/core/index.ts';
import type { Assignment, EarlierInvestigation } from '../../../src/contract/agent/index.ts';
import type { ChatMessage } from '../../../src/contract/storage/index.ts';
import { followConversation } from './conversation.ts';

const at = (clock: string): Date => new Date(`2026-03-01T${clock}:00Z`);
const said = (clock: string, content: string): ChatMessage => ({
  id: newId('msg'),
  seq: 1,
  role: 'user',
  author: { kind: 'key', id: 'ak_test', name: 'test' },
  time: at(clock),
  content,
  parts: [],
});
const found = (clock: string, start: string, end: string): EarlierInvestigation => ({
  askedAt: at(clock),
  conclusion: {
    root_cause: '',
    category: '',
    service: '',
    confidence: 'none',
    claims: [],
    window: { start: at(start).toISOString(), end: at(end).toISOString() },
  },
  steps: [],
});
const meant = (messages: readonly ChatMessage[], earlier: readonly EarlierInvestigation[] = []) => {
  const assignment: Assignment = {
    organizationId: newId('org'),
    messages,
    steps: [],
    earlier,
    askedAt: messages.at(-1)?.time ?? at('12:00'),
  };
  const { range, references, beganAt } = followConversation(messages, assignment);
  const written = (one: { readonly start: Date; readonly end: Date } | undefined) =>
    one && `${one.start.toISOString().slice(8, 16)} ${one.end.toISOString().slice(8, 16)}`;
  return { range: written(range), references: references.map(written), beganAt: beganAt?.toISOString().slice(11, 16) };
};

describe('the time that a conversation is about', () => {
  it('is nobody’s wish where nobody named one', () => {
    expect(meant([said('12:00', 'What is wrong?')]).range).toBeUndefined();
  });

  it('stays, as it was meant when it was said', () => {
    expect(meant([said('12:00', 'errors in the last 30 minutes'), said('12:20', 'only checkout')]).range).toBe(
      '01T11:30 01T12:00',
    );
    const since = meant([said('12:00', 'slow since 11:15'), said('12:20', 'why is payment slow?')]);
    expect([since.range, since.beganAt]).toEqual(['01T11:15 01T12:00', '11:15']);
  });

  it('is what was looked at before, where that was nobody’s wish', () => {
    const messages = [said('12:00', 'What is wrong?'), said('12:20', 'only checkout')];
    expect(meant(messages, [found('12:00', '10:00', '11:00')]).range).toBe('01T10:00 01T11:00');
  });

  it('moves from where it was, again and again', () => {
    const first = [said('12:00', 'What is wrong?'), said('12:05', 'the hour before')];
    expect(meant(first).range).toBe('01T10:00 01T11:00');
    expect(meant(first, [found('12:00', '09:00', '10:00')]).range).toBe('01T08:00 01T09:00');
    const second = [...first, said('12:10', 'and the hour before that?'), said('12:15', 'only catalog')];
    expect(meant(second).range).toBe('01T09:00 01T10:00');
    expect(meant([said('12:00', 'wrong between 10:00 and 10:30'), said('12:05', 'what about yesterday?')]).range).toBe(
      '28T10:00 28T10:30',
    );
  });

  it('is what was named last', () => {
    const messages = [said('12:00', 'since 09:00'), said('12:05', 'and between 10:00 and 10:30?')];
    expect(meant(messages, [found('12:00', '09:00', '12:00')]).range).toBe('01T10:00 01T10:30');
  });

  it('is compared with what is named, for that question', () => {
    const messages = [said('12:00', 'errors between 10:00 and 10:30'), said('12:05', 'compare with yesterday')];
    expect(meant(messages)).toEqual({ range: '01T10:00 01T10:30', references: ['28T10:00 28T10:30'] });
    expect(meant([...messages, said('12:06', 'only cart')]).references).toEqual([]);
    expect(meant([...messages, said('12:06', 'the hour before')]).references).toEqual([]);
  });

  it('is not that of a number asked for beside what was found', () => {
    const messages = [said('12:00', 'What is wrong?'), said('12:05', 'how many orders in the last 5 minutes?')];
    const looked = [found('12:00', '10:00', '12:00')];
    expect(meant(messages, looked).range).toBe('01T12:00 01T12:05');
    expect(meant([...messages, said('12:06', 'which version?')], looked).range).toBe('01T10:00 01T12:00');
    const alone = [said('12:05', 'how many orders between 10:00 and 10:30?'), said('12:06', 'why so few?')];
    expect(meant(alone).range).toBe('01T10:00 01T10:30');
  });

  it('is the last hour again with "now"', () => {
    const messages = [said('10:00', 'between 08:00 and 09:00'), said('12:00', 'and now?')];
    expect(meant(messages).range).toBe('01T11:00 01T12:00');
  });

  it('never ends after the moment at which it is asked', () => {
    const messages = [said('12:00', 'between 11:00 and 11:45'), said('12:05', 'the hour after')];
    expect(meant(messages).range).toBe('01T11:45 01T12:05');
  });
});
