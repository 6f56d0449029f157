import { describe, expect, it } from '@jest/globals';
import { chartOf } from './chart.ts';

const minute = (at: number): string => `2026-11-26T10:0${at}:00Z`;
const time = { name: 'minute', type: 'TIMESTAMP' };
const spans = { name: 'spans', type: 'BIGINT' };
const service = { name: 'service_name', type: 'VARCHAR' };
const name = { name: 'name', type: 'VARCHAR' };

describe('the picture of a result', () => {
  it('is a course where there is a time, with a line for each number of one unit', () => {
    const columns = [time, spans, { name: 'failed', type: 'HUGEINT' }, { name: 'p95_ms', type: 'DOUBLE' }];
    const picture = chartOf({
      columns,
      rows: [
        [minute(1), '5', '0', 12.5],
        [minute(0), '7', null, 11],
      ],
    });
    expect(picture?.title).toBe('spans, failed');
    expect(picture?.description).toContain('spans: at most 7, at 10:00');
  });

  it('is a course by category, the largest first, and says how many it has no room for', () => {
    const rows = Array.from({ length: 16 }, (_, at) => [minute(at % 2), `service-${at >> 1}`, String(at)]);
    const picture = chartOf({ columns: [time, service, spans], rows });
    expect(picture?.title).toBe('spans by service_name (6 of 8)');
    expect(picture?.description).toMatch(/service-7: at most 15/);
  });

  it('is bars where there is a category alone, nanoseconds as time', () => {
    const picture = chartOf({
      columns: [service, { name: 'p95_nano', type: 'DOUBLE' }],
      rows: [
        ['cart', 2_500_000],
        ['<b>', 1_000_000],
      ],
    });
    expect([picture?.title, picture?.description]).toEqual([
      'p95_nano by service_name',
      'p95_nano. cart: 2.5 ms; <b>: 1 ms.',
    ]);
    expect(picture?.svg.toString()).not.toContain('<b>');
  });

  it('has one label of two texts', () => {
    const picture = chartOf({
      columns: [service, name, spans],
      rows: [
        ['cart', 'GET /', '3'],
        ['cart', 'POST /', '1'],
      ],
    });
    expect([picture?.title, picture?.description]).toEqual([
      'spans by service_name and name',
      'spans. cart · GET /: 3; cart · POST /: 1.',
    ]);
  });

  it.each([
    ['one row', [service, spans], [['cart', '1']]],
    ['no number', [service], [['cart'], ['ad']]],
    [
      'three texts',
      [service, name, { name: 'kind', type: 'VARCHAR' }, spans],
      [
        ['a', 'b', 'c', '1'],
        ['d', 'e', 'f', '2'],
      ],
    ],
    [
      'a number below zero',
      [service, spans],
      [
        ['cart', '-1'],
        ['ad', '2'],
      ],
    ],
    [
      'digits that are text',
      [service, { name: 'status', type: 'VARCHAR' }],
      [
        ['cart', '200'],
        ['ad', '500'],
      ],
    ],
    [
      'one moment',
      [time, spans],
      [
        [minute(0), '1'],
        [minute(0), '2'],
      ],
    ],
  ])('is none of %s', (_what, columns, rows) => {
    expect(chartOf({ columns, rows })).toBeUndefined();
  });
});
