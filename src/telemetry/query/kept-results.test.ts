import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '../../contract/core/index.ts';
import { readPage, type KeptResult } from './kept-page.ts';
import { createKeptResults, type KeptResults, type KeptResultsLimits } from './kept-results.ts';
import { rowSetOf } from './result.ts';

const acme = newId('org');
const globex = newId('org');
const ann = { organizationId: acme, subject: 'usr_ann', role: 'admin' } as const;
const bob = { organizationId: acme, subject: 'usr_bob', role: 'admin' } as const;
const annElsewhere = { organizationId: globex, subject: 'usr_ann', role: 'admin' } as const;

const resultOf = (rows: unknown[][]): KeptResult => ({ dialect: 'duckdb', columns: [], rows: rowSetOf(rows) });
/** About `bytes` large, bookkeeping aside. */
const large = (bytes: number): KeptResult => resultOf([['x'.repeat(bytes)]]);

let kept: KeptResults | undefined;
let time = 0;
function create(limits?: KeptResultsLimits): KeptResults {
  time = Date.UTC(2026, 0, 1);
  kept = createKeptResults({ now: () => new Date(time), ...(limits === undefined ? {} : { limits }) });
  return kept;
}
afterEach(() => kept?.clear());

const message = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return JSON.stringify(
      error,
      Object.getOwnPropertyNames(error).filter((name) => name !== 'stack'),
    );
  }
};

describe('kept results', () => {
  it('answer their own principal for ten minutes', () => {
    const results = create();
    const id = results.keep(ann, resultOf([[1], [2]])) ?? '';
    time += 599_999;
    expect(results.get(ann, id).rows.ends.length).toBe(2);
    time += 1;
    expect(() => results.get(ann, id)).toThrow(expect.objectContaining({ code: 'result_expired' }));
  });

  it('are gone for a principal whose role is another now: what was read as an admin may be denied to a member', () => {
    const results = create();
    const id = results.keep(ann, resultOf([[1]])) ?? '';
    expect(() => results.get({ ...ann, role: 'member' }, id)).toThrow(
      expect.objectContaining({ code: 'result_expired' }),
    );
    expect(results.get(ann, id).rows.ends.length).toBe(1);
  });

  it("answer alike for expired, another's, another organization's and unknown ids", () => {
    const results = create();
    const id = results.keep(ann, resultOf([[1]])) ?? '';
    const unknown = message(() => results.get(bob, newId('res')));
    expect(unknown).toContain('result_expired');
    expect(message(() => results.get(bob, id))).toBe(unknown);
    expect(message(() => results.get(annElsewhere, id))).toBe(unknown);
    expect(message(() => results.get(ann, '__proto__'))).toBe(unknown);
    time += 600_000;
    expect(message(() => results.get(ann, id))).toBe(unknown);
  });

  it("give up the oldest of a principal past its number or size, and nobody else's", () => {
    const results = create({ keepMs: 600_000, perPrincipal: { results: 2, bytes: 10_000 }, overallBytes: 100_000 });
    const first = results.keep(ann, large(100)) ?? '';
    const others = results.keep(bob, large(100)) ?? '';
    const second = results.keep(ann, large(100)) ?? '';
    const third = results.keep(ann, large(100)) ?? '';
    expect(() => results.get(ann, first)).toThrow('no kept result');
    for (const id of [second, third]) expect(results.get(ann, id).rows.ends.length).toBe(1);
    const big = results.keep(ann, large(8000)) ?? '';
    expect(() => results.get(ann, third)).toThrow('no kept result');
    expect(results.get(ann, big).rows.ends.length).toBe(1);
    expect(results.get(bob, others).rows.ends.length).toBe(1);
    expect(results.keep(ann, large(10_000))).toBeUndefined();
    expect(results.get(ann, big).rows.ends.length).toBe(1);
  });

  it('make room overall at the cost of whoever holds most', () => {
    const results = create({ keepMs: 600_000, perPrincipal: { results: 9, bytes: 20_000 }, overallBytes: 25_000 });
    const small = results.keep(bob, large(1000)) ?? '';
    const hoard = [1, 2, 3].map(() => results.keep(ann, large(5000)) ?? '');
    const fresh = results.keep(annElsewhere, large(6000)) ?? '';
    expect(() => results.get(ann, hoard[0] ?? '')).toThrow('no kept result');
    expect(results.get(ann, hoard[2] ?? '').rows.ends.length).toBe(1);
    expect(results.get(bob, small).rows.ends.length).toBe(1);
    expect(results.get(annElsewhere, fresh).rows.ends.length).toBe(1);
  });

  it('hold no more than their limits, whoever keeps what', () => {
    const limits = { keepMs: 1000, perPrincipal: { results: 3, bytes: 6000 }, overallBytes: 9000 };
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(ann, bob, annElsewhere), fc.nat({ max: 6000 }), fc.nat({ max: 400 }))),
        (steps) => {
          const results = create(limits);
          const given: { holder: Parameters<KeptResults['keep']>[0]; id: string; bytes: number }[] = [];
          for (const [holder, bytes, wait] of steps) {
            time += wait;
            const id = results.keep(holder, large(bytes));
            if (id !== undefined) given.push({ holder, id, bytes });
            const alive = given.filter((one) => message(() => results.get(one.holder, one.id)) instanceof Object);
            expect(alive.reduce((sum, one) => sum + one.bytes, 0)).toBeLessThanOrEqual(limits.overallBytes);
            for (const who of [ann, bob, annElsewhere]) {
              const own = alive.filter((one) => one.holder === who);
              expect(own.length).toBeLessThanOrEqual(limits.perPrincipal.results);
              expect(own.reduce((sum, one) => sum + one.bytes, 0)).toBeLessThanOrEqual(limits.perPrincipal.bytes);
            }
            if (id !== undefined) expect(alive.at(-1)?.id).toBe(id);
          }
          results.clear();
        },
      ),
    );
  });
});

describe('readPage', () => {
  const cell = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('a"b', '],["', 'ÄB', 'x\\y', '12', '1e3'),
    fc.integer(),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
    fc.constant(null),
    fc.boolean(),
    fc.dictionary(fc.string(), fc.string()),
  );
  const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }));
  const texts = (value: unknown): string[] => {
    if (Array.isArray(value)) return value.flatMap(texts);
    if (typeof value === 'object' && value !== null) return Object.entries(value).flatMap(texts);
    if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
    return typeof value === 'string' ? [value] : [];
  };

  it('finds exactly the rows in which the text occurs, whatever is escaped', () => {
    const needle = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom('"', '\\', '],["', 'äb', '1', '1000', 'u00', 'null', 'e'),
    );
    fc.assert(
      fc.property(table, needle, fc.nat({ max: 3 }), (rows, contains, offset) => {
        const stored: unknown[][] = JSON.parse(JSON.stringify(rows));
        const expected = stored.filter((row) =>
          texts(row).some((text) => text.toLowerCase().includes(contains.toLowerCase())),
        );
        const page = readPage(resultOf(rows), { offset, contains, maxRows: 1000, maxBytes: 1e6 });
        expect(JSON.parse(`[${page.rows.json.toString()}]`)).toEqual(expected.slice(offset));
        expect(page.stoppedBy).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  it('looks into a cell however deep it is', () => {
    const depth = 8_000;
    const first = `["${'\\\\'}",${'['.repeat(depth)}"needle"${']'.repeat(depth)}]`;
    const json = Buffer.from(`${first},["${'\\\\'}"]`);
    const result = { ...resultOf([]), rows: { json, ends: [first.length, json.length] } };
    for (const [contains, found] of [
      ['needle', 1],
      ['needles', 0],
    ] as const) {
      const page = readPage(result, { offset: 0, contains, maxRows: 10, maxBytes: 1e6 });
      expect(page.rows.ends).toHaveLength(found);
    }
  });

  it('pages through matches without loss or repeat', () => {
    const rows = Array.from({ length: 50 }, (_, index) => [index, index % 3 === 0 ? 'Fizz "x"' : 'no']);
    const found: unknown[] = [];
    for (let offset = 0; ;) {
      const page = readPage(resultOf(rows), { offset, contains: 'fizz "', maxRows: 4, maxBytes: 60 });
      const cells: unknown[][] = JSON.parse(`[${page.rows.json.toString()}]`);
      found.push(...cells.map(([number]) => number));
      offset += cells.length;
      expect(page.rows.json.length).toBeLessThanOrEqual(60);
      if (page.stoppedBy === undefined) break;
    }
    expect(found).toEqual(Array.from({ length: 17 }, (_, index) => index * 3));
  });

  it('answers nothing behind the end', () => {
    const page = readPage(resultOf([[1]]), { offset: 5, maxRows: 10, maxBytes: 100 });
    expect(page).toEqual({ rows: { json: Buffer.alloc(0), ends: [] }, pagedIn: { kept: 1, fitting: 1 } });
  });
});
