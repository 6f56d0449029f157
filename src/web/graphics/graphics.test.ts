import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bars, histogram } from './bars.ts';
import type { Picture } from './picture.ts';
import { niceAxis, quantity, timeTicks } from './scale.ts';
import { series, type Mark } from './series.ts';
import { serviceMap, type MapNode } from './service-map.ts';
import { sparkline, textBar, textSparkline } from './sparkline.ts';
import { timeline } from './timeline.ts';
import { waterfall, type DrawnSpan } from './waterfall.ts';

const from = Date.parse('2026-11-26T16:55:00Z');
const minute = 60_000;

const anyNumber = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(0, -1, NaN, Infinity, -Infinity, 1e300));
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('<script>alert(1)</script>', '" onload="x', '\u{202E}txet', '', 'a'.repeat(5_000), '\uD800'),
);
const anyTime = fc.oneof(fc.integer({ min: from, max: from + 90 * minute }), anyNumber);
const marks = fc.array(
  fc.record({ at: anyTime, kind: fc.constantFrom<Mark['kind']>('onset', 'change', 'alert', 'end'), label: anyText }),
  { maxLength: 20 },
);
const spans = fc.array(
  fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
    parentId: fc.constantFrom('', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'),
    service: anyText,
    operation: anyText,
    consumer: fc.boolean(),
    start: anyNumber,
    duration: anyNumber,
    failed: fc.boolean(),
    message: anyText,
  }),
  { maxLength: 30 },
);

const pictures: readonly (readonly [name: string, fc.Arbitrary<Picture>])[] = [
  [
    'a series',
    fc
      .record({
        title: anyText,
        unit: fc.constantFrom('count', 'percent', 'ms'),
        from: anyTime,
        to: anyTime,
        width: fc.constantFrom(0, minute),
        shape: fc.constantFrom('line', 'bars'),
        lines: fc.array(
          fc.record({ name: anyText, points: fc.array(fc.tuple(anyTime, fc.option(anyNumber, { nil: undefined }))) }),
          { maxLength: 8 },
        ),
        marks,
      })
      .map((input) => series({ id: 'p', ...input })),
  ],
  [
    'bars',
    fc
      .record({
        title: anyText,
        unit: fc.constantFrom('count', 'percent', 'ms'),
        now: anyText,
        before: anyText,
        rows: fc.array(fc.record({ label: anyText, now: anyNumber, before: fc.option(anyNumber, { nil: undefined }) })),
      })
      .map((input) => bars({ id: 'p', ...input })),
  ],
  [
    'a histogram',
    fc
      .record({ title: anyText, buckets: fc.array(fc.record({ upTo: anyNumber, now: anyNumber, before: anyNumber })) })
      .map((input) => histogram({ id: 'p', ...input })),
  ],
  [
    'a waterfall',
    fc
      .record({ title: anyText, spans, most: fc.constantFrom(5, 100) })
      .map((input) => waterfall({ id: 'p', ...input })),
  ],
  [
    'a map',
    fc
      .record({
        title: anyText,
        nodes: fc.array(
          fc.record({
            service: fc.oneof(fc.constantFrom('a', 'b', 'c', 'd'), anyText),
            role: fc.constantFrom<MapNode['role']>('cause', 'suspect', 'affected', 'well'),
            failing: fc.option(anyNumber, { nil: undefined }),
          }),
        ),
        calls: fc.array(
          fc.record({ caller: fc.constantFrom('a', 'b', 'c'), callee: fc.constantFrom('b', 'c', 'd', 'e') }),
        ),
      })
      .map((input) => serviceMap({ id: 'p', ...input })),
  ],
  ['a timeline', fc.record({ title: anyText, events: marks }).map((input) => timeline({ id: 'p', ...input }))],
];

describe.each(pictures)('%s, whatever it is given', (_name, arbitrary) => {
  it('is well-formed, stays in its width, says no number that is none, and runs no text', () => {
    fc.assert(
      fc.property(arbitrary, ({ svg, title, description }) => {
        const text = String(svg);
        expect(unbalanced(text)).toEqual([]);
        expect(text).not.toMatch(/="[^"]*(?:NaN|Infinity|undefined|null)[^"]*"/);
        expect(text).not.toMatch(/<script|<[^>]*\s(?:on\w+|style)=/);
        for (const [, share] of text.matchAll(/="(-?[\d.]+)%"/g)) {
          expect(Number(share)).toBeGreaterThanOrEqual(0);
          expect(Number(share)).toBeLessThanOrEqual(100);
        }
        for (const [, length] of text.matchAll(/\s(?:width|height|r)="([^"%]+)"/g))
          expect(Number(length)).toBeGreaterThanOrEqual(0);
        expect(typeof title).toBe('string');
        expect(description).not.toBe('');
      }),
      { numRuns: 60 },
    );
  });
});

/** Elements that are not closed, or closed and not open. */
function unbalanced(text: string): readonly string[] {
  const open: string[] = [];
  const wrong: string[] = [];
  for (const [, end, name = '', self] of text.matchAll(/<(\/?)([a-z]+)(?:\s(?:[^"<>]|"[^"<]*")*?)?(\/?)>/g)) {
    if (self === '/') continue;
    if (end === '') open.push(name);
    else if (open.pop() !== name) wrong.push(name);
  }
  return [...wrong, ...open];
}

describe('a series', () => {
  const twelve = Array.from({ length: 12 }, (_, index) => [from + index * 5 * minute, index < 8 ? 0 : 20] as const);
  const of = (points: typeof twelve) =>
    series({
      id: 'p',
      title: 'Failing',
      unit: 'percent',
      from,
      to: from + 60 * minute,
      width: 5 * minute,
      lines: [{ name: 'failing', points }],
      marks: [{ at: from + 40 * minute, kind: 'onset', label: 'it begins' }],
    });

  it('begins at 0 and says its figures in a table and in words', () => {
    const { svg, description, rows } = of(twelve);
    expect(String(svg)).toContain('>0 %</text');
    expect(description).toBe('From 2026-11-26 16:55 to 17:55 UTC. failing: at most 20 %, at 17:35; 17:35 it begins.');
    expect(rows).toHaveLength(12);
    expect(rows[8]).toEqual(['2026-11-26 17:35', '20 %']);
  });

  it('does not draw what is not known as 0', () => {
    const { svg, rows } = series({
      id: 'p',
      title: '',
      unit: 'ms',
      from,
      to: from + 3 * minute,
      lines: [
        {
          name: 'p95',
          points: [
            [from, 5],
            [from + minute, undefined],
            [from + 2 * minute, 5],
          ],
        },
      ],
      marks: [],
    });
    expect(/class="line line-0"\s+d="([^"]*)"/.exec(String(svg))?.[1]?.match(/M/g)).toHaveLength(2);
    expect(rows[1]?.[1]).toBe('–');
  });

  it('draws ten thousand points in few, and loses no peak', () => {
    const points = Array.from(
      { length: 10_000 },
      (_, index) => [from + index * 360, index === 4_321 ? 900 : 10] as const,
    );
    const { svg } = series({
      id: 'p',
      title: '',
      unit: 'ms',
      from,
      to: from + 60 * minute,
      lines: [{ name: 'p95', points }],
      marks: [],
    });
    expect(String(svg).length).toBeLessThan(40_000);
    const heights = [...(/class="line line-0"\s+d="([^"]*)"/.exec(String(svg))?.[1]?.matchAll(/ ([\d.]+)/g) ?? [])];
    expect(Math.min(...heights.map(([, y]) => Number(y)))).toBe(10);
  });
});

describe('a waterfall', () => {
  const span = (
    id: string,
    parentId: string,
    start: number,
    duration: number,
    more: Partial<DrawnSpan> = {},
  ): DrawnSpan => ({
    id,
    parentId,
    service: 'shop',
    operation: id,
    consumer: false,
    start,
    duration,
    failed: false,
    message: '',
    ...more,
  });

  it('stands children below their callers, and marks what failed and what determines the end', () => {
    const { rows, description } = waterfall({
      id: 'p',
      title: '',
      spans: [
        span('late', 'root', 60, 30, { failed: true, message: 'no' }),
        span('root', '', 0, 100),
        span('early', 'root', 10, 20),
        span('below', 'early', 12, 5),
      ],
    });
    expect(rows.map(([, operation, , , result, critical]) => [operation, result, critical])).toEqual([
      ['root', 'ok', 'yes'],
      ['early', 'ok', 'yes'],
      ['below', 'ok', 'yes'],
      ['late', 'failed: no', 'yes'],
    ]);
    expect(description).toContain('4 spans of 1 services in 100 ms; 1 failed.');
  });

  it('draws of five thousand spans those that tell most, and what they stand under', () => {
    const spans = Array.from({ length: 5_000 }, (_, index) =>
      span(`s${index}`, index === 0 ? '' : `s${Math.floor((index - 1) / 3)}`, index, 6_000 - index, {
        failed: index === 4_999,
        message: 'deep',
      }),
    );
    const { rows, svg, description } = waterfall({ id: 'p', title: '', spans });
    expect(rows.length).toBeLessThanOrEqual(100);
    expect(rows.map(([, operation]) => operation)).toEqual(expect.arrayContaining(['s0', 's4999', 's1666', 's555']));
    expect(description).toContain('5000 spans');
    expect(String(svg).length).toBeLessThan(150_000);
  });

  it('takes a chain of five thousand', () => {
    const chain = Array.from({ length: 5_000 }, (_, index) =>
      span(`s${index}`, `s${index - 1}`, index, 10_000 - index),
    );
    expect(waterfall({ id: 'p', title: '', spans: chain }).rows.length).toBeLessThanOrEqual(100);
  });
});

describe('a map', () => {
  it('names the likeliest cause, and keeps who matters where there are too many', () => {
    const nodes = Array.from({ length: 40 }, (_, index): MapNode => ({
      service: `s${index}`,
      role: index === 39 ? 'cause' : 'well',
    }));
    const { rows, description } = serviceMap({
      id: 'p',
      title: '',
      nodes,
      calls: [
        { caller: 's38', callee: 's39' },
        { caller: 's39', callee: 's38' },
      ],
    });
    expect(rows[0]).toEqual(['s39', 'likeliest cause', '–', 's38']);
    expect(rows[1]?.[0]).toBe('s38');
    expect(description).toContain('24 services are left out');
  });
});

describe('bars', () => {
  it('begin at 0 and name both sides', () => {
    const { rows, svg } = bars({
      id: 'p',
      title: '',
      unit: 'percent',
      now: 'now',
      before: 'before',
      rows: [{ label: 'pay', now: 20, before: 5 }],
    });
    expect(rows).toEqual([['pay', '20 %', '5 %']]);
    expect(String(svg)).toMatch(/class="bar now"[^>]*width="80%"/);
    expect(String(svg)).toMatch(/class="bar before"[^>]*width="20%"/);
  });
});

describe('axes', () => {
  it('divide what they show in round steps from 0', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (highest) => {
        const { top, ticks } = niceAxis(highest);
        expect(ticks[0]).toBe(0);
        expect(top).toBeGreaterThanOrEqual(highest * 0.999);
        expect(top).toBeLessThanOrEqual(highest * 3);
      }),
    );
    expect(niceAxis(23).ticks).toEqual([0, 10, 20, 30]);
  });

  it('have round times', () => {
    const ticks = timeTicks(from, from + 60 * minute).map((at) => new Date(at).toISOString().slice(11, 16));
    expect(ticks).toEqual(['17:00', '17:10', '17:20', '17:30', '17:40', '17:50']);
  });

  it('have units', () => {
    expect([quantity(12.4, 'percent'), quantity(1_234, 'ms'), quantity(12_345, 'count'), quantity(0.25, 'ms')]).toEqual(
      ['12 %', '1.2 s', '12,345', '0.25 ms'],
    );
  });
});

describe('a course in small', () => {
  it('is read out, and is drawn of blocks in a terminal', () => {
    expect(String(sparkline([0, 1, 8], 'rises'))).toContain('aria-label="rises"');
    expect(sparkline([1], '')).toBeUndefined();
    expect(textSparkline([0, 4, 8, NaN])).toBe('▁▅█▁');
    expect([0.93, 0, NaN].map(textBar)).toEqual(['█████████░', '░░░░░░░░░░', '░░░░░░░░░░']);
  });
});
