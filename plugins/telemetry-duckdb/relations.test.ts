import { describe, expect, it } from '@jest/globals';
import { fillTemplate, templateOf } from './gate/relations.ts';

const spansAt = (at: number, alias = '') => ({
  type: 'BASE_TABLE',
  schema_name: 'otel',
  table_name: 'Spans',
  alias,
  query_location: at,
});
const columnAt = (at: number) => ({
  class: 'COLUMN_REF',
  column_names: ['OTEL', 'spans', 'name'],
  query_location: at,
});

function filled(sql: string, ...nodes: Parameters<typeof templateOf>[1]): string | undefined {
  const template = templateOf(sql, nodes);
  return template && fillTemplate(template, (table) => `(${table})`);
}

describe('what stands for a telemetry table', () => {
  it.each([
    ['otel.spans', spansAt(0), '(spans) AS spans'],
    ['"OTEL"."Spans" AS s', spansAt(0, 's'), '(spans) AS s'],
    ['otel.spans AS "otel.spans"', spansAt(0, 'otel.spans'), '(spans) AS "otel.spans"'],
    ["'é€𝄞 otel.spans' FROM otel.spans", spansAt(28), "'é€𝄞 otel.spans' FROM (spans) AS spans"],
    ['"OTEL".spans."name"', columnAt(0), 'spans."name"'],
  ])('takes its place in %s', (sql, node, expected) => {
    expect(filled(sql, node)).toBe(expected);
  });

  it('is put once where two nodes were read at one place', () => {
    expect(filled('otel.spans, otel.spans', spansAt(0), spansAt(12), spansAt(0))).toBe(
      '(spans) AS spans, (spans) AS spans',
    );
  });

  it.each([
    ['in a string', "'otel.spans'", spansAt(1)],
    ['behind a doubled quote', "'it''s otel.spans'", spansAt(7)],
    ['in a name', '"a otel.spans"', spansAt(3)],
    ['in a name, behind a doubled quote', '"a""otel.spans"', spansAt(4)],
    ['where another table stands', 'otel.logs', spansAt(0)],
    ['where a longer name stands', 'otel.spans_of_others', spansAt(0)],
    ['where a longer name in quotes stands', '"otel"."spans""x"', spansAt(0)],
    ['beside the name', ' otel.spans', spansAt(0)],
    ['nowhere', 'otel.spans', spansAt(2 ** 64)],
    ['nowhere, as a column', 'name', columnAt(2 ** 64)],
    ['in a string, as a column', "'otel.spans.name'", columnAt(1)],
  ])('is not put %s, whatever the tree says', (_where, sql, node) => {
    expect(filled(sql, node)).toBeUndefined();
  });
});
