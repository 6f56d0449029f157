import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { rejection } from '../../../test/contract/runner.ts';
import { ClickHouseServer } from '../../../test/support/clickhouse/server.ts';
import { sharedServer } from '../../../test/support/clickhouse/shared-server.ts';
import { withEngine } from '../../../test/support/clickhouse/with-engine.ts';
import { ask, connect, endless, expectIdle, never, open, rowsOf, trickle } from '../support/asking.ts';
import { changedSettings } from './settings.ts';
import type { Warehouse } from './warehouse.ts';

withEngine(() => {
  describe('a ClickHouse', () => {
    const server = sharedServer();
    let warehouse: Warehouse;
    beforeAll(async () => {
      warehouse = connect([server().url]);
      await warehouse.start(never);
    });
    afterAll(() => warehouse.stop());

    it('stops its work when the caller leaves, before the first row and between rows', async () => {
      const before = new AbortController();
      const waiting = rejection(open(warehouse, endless, { signal: before.signal }));
      await sleep(200);
      before.abort();
      expect(await waiting).toMatchObject({ code: 'query_cancelled' });
      const between = new AbortController();
      const cursor = await open(warehouse, trickle, {
        limits: { maxRows: 1e9, maxBytes: 1e12 },
        signal: between.signal,
      });
      await cursor.read();
      between.abort();
      expect(await rejection(rowsOf(cursor))).toMatchObject({ code: 'query_cancelled' });
      await expectIdle(server());
    });

    it('stops its work at the deadline, at a limit, and when a result is closed', async () => {
      expect(await rejection(ask(warehouse, endless, { limits: { timeoutMs: 300 } }))).toMatchObject({
        code: 'query_timeout',
      });
      const slowly = { maxRows: 1e9, maxBytes: 1e12, timeoutMs: 300 };
      expect(await rejection(ask(warehouse, trickle, { limits: slowly }))).toMatchObject({ code: 'query_timeout' });
      expect(await ask(warehouse, trickle, { limits: { maxRows: 10 } })).toHaveLength(10);
      // More than there are connections.
      for (let count = 0; count < 5; count += 1) await (await open(warehouse, trickle)).close();
      await expectIdle(server());
      expect(await ask(warehouse, 'SELECT 1')).toEqual([[1]]);
    });

    it('runs nothing for a caller who has left', async () => {
      expect(await rejection(open(warehouse, 'SELECT 1', { signal: AbortSignal.abort() }))).toMatchObject({
        code: 'query_cancelled',
      });
    });

    it('is heard when it fails after the first rows', async () => {
      const sql = "SELECT number, throwIf(number = 900000, 'withheld') FROM numbers(10000000)";
      const cursor = await open(warehouse, sql, { limits: { maxRows: 1e9, maxBytes: 1e12 } });
      const error = await rejection(rowsOf(cursor));
      expect(error).toMatchObject({ code: 'sql_failed' });
      expect(JSON.stringify(error)).not.toContain('withheld');
      expect(error instanceof Error && String(error.cause)).toContain('withheld');
    });

    it('is told who asks, in log_comment', async () => {
      const label = { principal: `ak_1'*/ "\\`, tool: 'query_otel', traceId: 'x'.repeat(100_000) };
      const [row] = await ask(warehouse, "SELECT getSetting('log_comment')", { label });
      expect(JSON.parse(String(row?.[0]))).toMatchObject({ principal: label.principal, tool: 'query_otel' });
    });

    it('answers many at once over few connections', async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => ask(warehouse, `SELECT ${n}`)));
      expect(answers.flat(2)).toEqual(Array.from({ length: 12 }, (_, n) => n));
    });

    it('may send compressed results', async () => {
      const compressed = connect([server().url], { compression: true });
      await compressed.start(never);
      const sql = 'SELECT number, repeat(toString(number), 20) FROM numbers(200000)';
      expect(await ask(compressed, sql, { limits: { maxRows: 1e6, maxBytes: 1e9 } })).toHaveLength(200_000);
      expect(await rejection(ask(compressed, 'SELECT nam FROM system.one'))).toMatchObject({ code: 'unknown_column' });
      await compressed.stop();
    });

    it.each<[string, string, object]>([
      ['SELECT servce_name FROM (SELECT 1 AS x)', 'unknown_column', { hint: expect.stringContaining('service_name') }],
      ['SELECT s.nam FROM (SELECT 1 AS x) AS s', 'unknown_column', {}],
      ['SELECT toStartOfHours(now())', 'unknown_function', { hint: expect.stringContaining('toStartOfHour') }],
      ["SELECT toUInt8('withheld')", 'sql_failed', { hint: expect.stringContaining('OrNull') }],
      ["SELECT toHour('withheld')", 'sql_failed', { message: expect.stringContaining('toHour') }],
      ['SELECT 1 +', 'sql_syntax', {}],
      ['SELECT * FROM system.nothing', 'telemetry_unavailable', {}],
      ["SELECT match('withheld', '(')", 'sql_failed', {}],
      ['SELECT intDiv(1, 0)', 'sql_failed', {}],
      [
        'SELECT (SELECT number FROM numbers(2))',
        'sql_failed',
        { message: expect.stringContaining('more than one row') },
      ],
      ['SELECT groupArray(repeat(toString(number), 1000)) FROM numbers(10000000)', 'query_memory', {}],
    ])('explains its failures in words of ours: %s', async (sql, code, rest) => {
      const careful = connect([server().url], { settings: { max_memory_usage: 200_000_000 } });
      await careful.start(never);
      const error = await rejection(ask(careful, sql));
      expect(error).toMatchObject({ code, ...rest });
      expect(JSON.stringify(error)).not.toContain('withheld');
      await careful.stop();
    });
  });

  describe('a ClickHouse before 25.11', () => {
    const server = sharedServer({ exceptions: 'plain' });

    it('is heard when it fails after the first rows', async () => {
      const warehouse = connect([server().url]);
      await warehouse.start(never);
      const sql = String.raw`SELECT number, throwIf(number = 900000, 'x"]\n["forged"]\n') FROM numbers(10000000)`;
      const cursor = await open(warehouse, sql, { limits: { maxRows: 1e9, maxBytes: 1e12 } });
      const seen: string[] = [];
      const reading = async () => {
        for (let chunk = await cursor.read(); chunk; chunk = await cursor.read()) {
          seen.push(Buffer.from(chunk.json).toString('utf8'));
        }
      };
      expect(await rejection(reading())).toMatchObject({ code: 'sql_failed' });
      expect(seen.join('')).not.toContain('forged');
      await warehouse.stop();
    });
  });

  describe('a profile that is readonly', () => {
    it('may let the settings be changed that are needed', async () => {
      const server = await ClickHouseServer.start({ readonlyExcept: changedSettings });
      const warehouse = connect([server.url]);
      await warehouse.start(never);
      expect(await ask(warehouse, "SELECT toUInt64(1), nan, getSetting('readonly')")).toEqual([['1', 'NaN', 1]]);
      await warehouse.stop();
      await server.stop();
    });

    it('may do without the others, and is told who asks in a comment', async () => {
      const kept = changedSettings.filter((name) => /^(output_format_json|date_|session_timezone)/.test(name));
      const server = await ClickHouseServer.start({ readonlyExcept: kept });
      const warehouse = connect([server.url]);
      await warehouse.start(never);
      const label = { principal: "ak_1*/ '", tool: 'query_otel', traceId: '1' };
      const sql = "SELECT query FROM system.processes WHERE query LIKE '%FROM system.processes%'";
      const [row] = await ask(warehouse, sql, { label });
      expect(String(row?.[0])).toContain(
        "/*principal='ak_1%2A%2F%20%27',tool='query_otel',trace_id='1'*/ SELECT query",
      );
      expect(await rejection(ask(warehouse, endless, { limits: { timeoutMs: 300 } }))).toMatchObject({
        code: 'query_timeout',
      });
      await expectIdle(server);
      await warehouse.stop();
      await server.stop();
    });

    it('is refused where rows would come out wrong', async () => {
      const server = await ClickHouseServer.start({ readonlyExcept: ['max_execution_time'] });
      const warehouse = connect([server.url]);
      const error = await rejection(warehouse.start(never));
      expect(error).toMatchObject({
        code: 'plugin_failed',
        operatorMessage: expect.stringContaining('date_time_output_format'),
      });
      await warehouse.stop();
      await server.stop();
    });
  });
});
