import { describe, expect, it } from '@jest/globals';
import { labelComment } from './statement.ts';

describe('a label', () => {
  it('is a comment before the statement, in the form of sqlcommenter', () => {
    const label = { principal: 'ak_1', tool: 'query_otel', traceId: '0af7651916cd43dd8448eb211c80319c' };
    expect(labelComment(label)).toBe(
      "/*principal='ak_1',tool='query_otel',trace_id='0af7651916cd43dd8448eb211c80319c'*/ ",
    );
    expect(labelComment(undefined)).toBe('');
  });

  it.each(["*/ DROP TABLE x --'", "'", '/*', '**//', '\n', '\0', '\ud800', 'é😀', '\\', '%', 'x'.repeat(100_000)])(
    'ends where it should, whatever %j holds',
    (text) => {
      const sql = labelComment({ principal: text, tool: text, traceId: text });
      expect(sql).toMatch(/^\/\*principal='[\w%.~-]*',tool='[\w%.~-]*',trace_id='[\w%.~-]*'\*\/ $/);
      expect(sql.length).toBeLessThan(6_000);
    },
  );
});
