import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { argumentKinds, widen } from './arguments.ts';

const kinds = argumentKinds({
  required: ['text'],
  properties: {
    text: { type: 'string' },
    start: { type: 'string' },
    limit: { type: 'integer', minimum: 1 },
    wait: { type: 'number', minimum: 0 },
    mine: { type: 'boolean' },
    status: { type: 'array' },
  },
});
const read = (args: Readonly<Record<string, unknown>>) => widen(kinds, { text: 'x', ...args });

describe('widen', () => {
  it.each([
    [{ start: null }, {}],
    [{ start: '', limit: '', mine: null, status: '' }, {}],
    [{ limit: 0 }, {}],
    [{ start: 0 }, {}],
    [{ wait: 0 }, { wait: 0 }],
    [{ limit: '20' }, { limit: 20 }],
    [{ wait: ' 2.5 ' }, { wait: 2.5 }],
    [{ limit: 'many' }, { limit: 'many' }],
    [{ mine: 'True' }, { mine: true }],
    [{ start: 1_772_366_400_123 }, { start: '1772366400123' }],
    [{ status: 'open' }, { status: ['open'] }],
    [{ status: '["open","triage"]' }, { status: ['open', 'triage'] }],
    [{ status: '[open' }, { status: ['[open'] }],
    [{ toolCallId: 'c1', sessionId: 's', action: 'a', chatInput: '', task_progress: '- [ ]', random_string: 'r' }, {}],
    [{ _meta: {}, __proto: 1 }, {}],
    [{ nonsense: 1 }, { nonsense: 1 }],
  ])('reads %j as %j', (sent, expected) => {
    expect(read(sent)).toEqual({ text: 'x', ...expected });
  });

  it('leaves what is required to the schema', () => {
    expect(widen(kinds, { text: '' })).toEqual({ text: '' });
    expect(widen(kinds, { text: null })).toEqual({ text: null });
  });

  it('gives arguments that fit back as they are', () => {
    const fitting = { text: 'x', start: 'now-1h', limit: 5, wait: 0, mine: false, status: ['open'] };
    expect(widen(kinds, fitting)).toBe(fitting);
  });

  it('reads nothing twice differently, whatever is sent', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...kinds.keys(), '_x', 'other'), fc.jsonValue()), (sent) => {
        const once = widen(kinds, sent);
        expect(widen(kinds, once)).toEqual(once);
      }),
    );
  });
});
