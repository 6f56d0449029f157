import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import type { Principal } from '../contract/issuer/index.ts';
import { defineTool, newId, type Tool, isObject } from '../contract/core/index.ts';
import { readAccept } from './era.ts';
import { hashArguments, parseArguments } from './arguments.ts';
import { createCatalog } from './catalog.ts';
import { nestsDeeperThan, opensAtMost } from '../contract/core/json.ts';
import { decodeHeader } from './param-headers.ts';
import { createRunningCalls } from './message.ts';
import { readTraceParent } from './tool-context.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('nestsDeeperThan', () => {
  it('agrees with the parsed value, however it is written', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 8 }),
        fc.integer({ min: 0, max: 9 }),
        fc.boolean(),
        (value, limit, pretty) => {
          const text = JSON.stringify(value, undefined, pretty ? 2 : undefined);
          expect(nestsDeeperThan(bytes(text), limit)).toBe(depthOf(value) > limit);
        },
      ),
    );
  });
});

describe('opensAtMost', () => {
  it('says so of nothing that nests deeper', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.integer({ min: 0, max: 9 }), (value, limit) => {
        if (opensAtMost(JSON.stringify(value), limit)) expect(depthOf(value)).toBeLessThanOrEqual(limit);
      }),
    );
  });

  it.each([
    ['', 0, true],
    ['[[[]]]', 3, true],
    ['[[[]]]', 2, false],
    ['{"a":[{}]}', 3, true],
    ['{"a":[{}]}', 2, false],
    ['"[["', 1, false],
  ])('of %s with at most %i: %s', (text, limit, answer) => {
    expect(opensAtMost(text, limit)).toBe(answer);
  });
});

describe('parseArguments', () => {
  it('refuses arguments of very many values before each of them is found wrong', () => {
    const looked: unknown[] = [];
    const seen = z.string().refine((value) => looked.push(value) < 0, 'is wrong');
    const tool = defineTool({
      name: 'many',
      title: 'Many',
      description: 'many',
      scope: 'telemetry:read',
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      input: z.strictObject({ names: z.array(seen) }),
      output: z.object({}),
      run: async () => ({ structured: '{}', text: '' }),
    });
    const entry = createCatalog([tool], { name: 't', title: 't', version: '1' }).entries.get('many');
    if (entry === undefined) throw new Error('unreachable: it was just registered');
    const parse = (count: number) => () => parseArguments(entry, { names: Array.from({ length: count }, () => 'x') });
    expect(parse(100)).toThrow('is wrong');
    expect(looked).toHaveLength(100);
    expect(parse(20_000)).toThrow('more than 10000 values');
    expect(looked).toHaveLength(100);
  });
});

describe('decodeHeader', () => {
  it('gives any text back that was encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(decodeHeader(`=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`)).toBe(
          Buffer.from(text).toString(),
        );
      }),
    );
  });
  it.each(['=?base64?', '?=', '=?base64?=', 'plain', ''])('takes %j literally', (value) => {
    expect(decodeHeader(value)).toBe(value);
  });
  it.each(['=?base64?a?=', '=?base64?YQ=?=', '=?base64?Y Q==?=', '=?base64?YQ-_?=', '=?base64?/w==?='])(
    'refuses %j',
    (value) => {
      expect(decodeHeader(value)).toBeUndefined();
    },
  );
});

describe('hashArguments', () => {
  it('does not depend on the order of keys, and tells values apart', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).toReversed());
        expect(hashArguments(reversed)).toBe(hashArguments(value));
        expect(hashArguments({ ...value, added: 1 })).not.toBe(hashArguments({ ...value, added: '1' }));
      }),
    );
  });
});

describe('readAccept', () => {
  it('never fails on a client that takes anything', () => {
    fc.assert(
      fc.property(fc.string(), (noise) => {
        expect(readAccept(`*/*, ${noise.replaceAll(',', '')}`).json).toBe(true);
      }),
    );
  });
});

describe('readTraceParent', () => {
  it('lets nothing into the log that is not hexadecimal', () => {
    fc.assert(
      fc.property(fc.string(), (traceparent) => {
        expect(readTraceParent({ traceparent }, {})).toBeUndefined();
      }),
    );
  });
});

describe('createRunningCalls', () => {
  const principal: Principal = {
    kind: 'key',
    subject: 'ak_1',
    organizationId: newId('org'),
    role: 'member',
    scopes: new Set(),
    clientId: 'ak_1',
  };

  it('cancels the later of two calls under one id, whichever ends first', () => {
    const running = createRunningCalls();
    const [first, second] = [new AbortController(), new AbortController()];
    const endFirst = running.add(principal, 's', 1, first);
    const endSecond = running.add(principal, 's', 1, second);
    endFirst();
    expect(running.cancel(principal, 's', 1)).toBe(true);
    expect([first.signal.aborted, second.signal.aborted]).toEqual([false, true]);
    endSecond();
    expect(running.cancel(principal, 's', 1)).toBe(false);
  });

  it('keeps apart what only looks alike, and holds a bounded number', () => {
    const running = createRunningCalls(1);
    const [kept, over] = [new AbortController(), new AbortController()];
    running.add(principal, 's', 1, kept);
    running.add(principal, 't', 1, over);
    expect(running.cancel(principal, 't', 1)).toBe(false);
    expect(running.cancel(principal, 's', '1')).toBe(false);
    expect(running.cancel({ ...principal, organizationId: newId('org') }, 's', 1)).toBe(false);
    expect(running.cancel({ ...principal, subject: 'ak_2' }, 's', 1)).toBe(false);
    expect(running.cancel(principal, undefined, 1)).toBe(false);
    expect([kept.signal.aborted, over.signal.aborted]).toEqual([false, false]);
  });
});

describe('createCatalog', () => {
  const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  const base = defineTool({
    name: 'a',
    title: 'A',
    description: 'a',
    scope: 'telemetry:read',
    annotations,
    input: z.strictObject({ x: z.string().optional() }),
    output: z.object({}),
    run: async () => ({ structured: '{}', text: '' }),
  });
  const info = { name: 's', title: 'S', version: '1' };
  const header = (name: unknown) => z.string().meta({ 'x-mcp-header': name });
  const withInput = (input: z.ZodType): Tool => ({ ...base, input });

  it.each<[string, readonly Tool[]]>([
    ['a name with a space', [{ ...base, name: 'a b' }]],
    ['a long name', [{ ...base, name: 'a'.repeat(129) }]],
    ['the same name twice', [base, base]],
    ['an input that is not strict', [withInput(z.object({}))]],
    ['an input that is no object', [withInput(z.string())]],
    ['an output that is no object', [{ ...base, output: z.array(z.string()) }]],
    ['an alias of nothing', [{ ...base, aliases: { y: 'z' } }]],
    ['an alias over an argument', [{ ...base, aliases: { x: 'x' } }]],
    ['a header that is no token', [withInput(z.strictObject({ x: header('a b') }))]],
    ['a header on an object', [withInput(z.strictObject({ x: z.strictObject({}).meta({ 'x-mcp-header': 'X' }) }))]],
    ['a header in a list', [withInput(z.strictObject({ x: z.array(header('X')) }))]],
    ['one header twice', [withInput(z.strictObject({ x: header('X'), y: header('x') }))]],
  ])('refuses %s at start-up', (_name, tools) => {
    expect(() => createCatalog(tools, info)).toThrow();
  });

  it('finds tools by their own names alone', () => {
    const catalog = createCatalog([base], info);
    expect(catalog.entries.get('a')?.tool).toBe(base);
    for (const name of ['__proto__', 'constructor', 'A', '']) expect(catalog.entries.get(name)).toBeUndefined();
    const list: unknown = JSON.parse(String(catalog.legacyList.json));
    expect(isObject(list) && list['tools']).toEqual([
      {
        name: 'a',
        title: 'A',
        description: 'a',
        inputSchema: { type: 'object', properties: { x: { type: 'string' } }, additionalProperties: false },
        outputSchema: { type: 'object', properties: {} },
        annotations,
      },
    ]);
  });
});
