import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SightlineError, type OrganizationId } from '../../src/contract/core/index.ts';
import { Harness, newOrganization } from './support/harness.ts';
import { legitimate } from './support/legitimate.ts';

let harness: Harness;
let organizationId: OrganizationId;

beforeAll(async () => {
  harness = await Harness.start();
  organizationId = newOrganization();
  const time = new Date('2026-01-01T00:10:00Z');
  const common = { time, start_time: time, end_time: time, service_name: 'shop', trace_id: 't1' };
  await harness.load(organizationId, 'spans', [
    {
      ...common,
      span_id: 's1',
      name: 'GET /cart',
      kind: 'SERVER',
      status_code: 'OK',
      duration_nano: 2_000_000,
      attributes: { 'http.route': '/cart', 'http.response.status_code': '500' },
    },
    {
      ...common,
      span_id: 's2',
      parent_span_id: 's1',
      name: 'pay',
      kind: 'CLIENT',
      status_code: 'ERROR',
      duration_nano: 9_000,
      events: [{ time: '2026-01-01T00:10:00.5Z', name: 'exception', attributes: { 'exception.message': 'refused' } }],
    },
  ]);
  await harness.load(organizationId, 'logs', [
    { ...common, body: '{"level":"error","msg":"order 12 timeout"}', severity_text: 'ERROR' },
  ]);
  await harness.load(organizationId, 'metrics', [
    {
      ...common,
      name: 'm',
      type: 'sum',
      value: 1.5,
      is_monotonic: true,
      aggregation_temporality: 'cumulative',
      bucket_counts: [1, 2],
      explicit_bounds: [5],
    },
    { ...common, name: 'm', type: 'summary', quantile_values: [{ quantile: 0.5, value: 3 }] },
  ]);
});
afterAll(async () => {
  await harness.stop();
});

describe('legitimate queries', () => {
  it('may list as many trace ids as fit a statement, and no tree that takes long to read', async () => {
    const ids = Array.from({ length: 1_750 }, (_, index) => `'${index.toString(16).padStart(32, '0')}'`);
    const { rows } = await harness.query(
      organizationId,
      `SELECT count(*) FROM otel.spans WHERE trace_id NOT IN (${ids.join(',')})`,
    );
    expect(rows).toEqual([['2']]);
    const chain = Array.from({ length: 3_000 }, (_, index) => `c${index} AS (SELECT 1)`);
    await expect(harness.query(organizationId, `WITH ${chain.join(',')} SELECT 1`)).rejects.toMatchObject({
      code: 'sql_refused',
      message: expect.stringContaining('too large'),
    });
  });

  it('mean the same as the caller wrote: columns and rows are those of the raw statement', async () => {
    const changing = /now\(\)|current_|today\(\)|SAMPLE/i;
    const different: string[] = [];
    for (const { sql } of legitimate.filter((statement) => !changing.test(statement.sql))) {
      const raw = await harness.run(organizationId, sql);
      const bounded = await harness.query(organizationId, sql, { window: { start: new Date(0) } });
      const same =
        JSON.stringify(raw.columns.map((column) => column.type)) ===
          JSON.stringify(bounded.columns.map((column) => column.type)) && sorted(raw.rows) === sorted(bounded.rows);
      if (!same) different.push(`${sql}\n${JSON.stringify(raw)}\n${JSON.stringify(bounded)}`);
    }
    expect(different).toEqual([]);
  });
});

describe('a moment with an offset from UTC', () => {
  const moment = "'2026-01-01T02:10:00+02:00'";
  const count = async (condition: string) =>
    (await harness.query(organizationId, `SELECT count(*) FROM otel.spans AS s WHERE ${condition}`)).rows[0]?.[0];

  it.each([
    `time = ${moment}`,
    `'2025-12-31 19:10:00.000000-0500' = "time"`,
    `s.time BETWEEN ${moment} AND '2026-1-1 1:10:00+01'`,
    `time NOT BETWEEN '2026-01-01T00:00:00+02:00' AND '2026-01-01T00:00:00+02:00'`,
    `time IN ('1999-01-01', ${moment})`,
    `time IS NOT DISTINCT FROM ${moment}`,
    `time = TIMESTAMP ${moment}`,
    `time = TRY_CAST(${moment} AS DATETIME)`,
    `coalesce(time, ${moment}) = greatest(time, ${moment})`,
    `nullif(time, ${moment}) IS NULL`,
    `date_diff('minute', time, ${moment}) = 0`,
    `time - ${moment} = INTERVAL 0 SECOND`,
    `CASE time WHEN ${moment} THEN true ELSE false END`,
    `(SELECT max(seen) FROM (SELECT time AS seen FROM otel.spans)) = ${moment}`,
    `date_trunc('hour', time) = '2026-01-01T05:30:00+05:30'`,
  ])('is that moment: %s', async (condition) => {
    expect(await count(condition)).toBe('2');
  });

  it('is a text where texts are', async () => {
    const { rows } = await harness.query(
      organizationId,
      `SELECT ${moment}, upper(${moment}), [${moment}] FROM otel.logs`,
    );
    expect(JSON.stringify(rows)).toBe(JSON.stringify([[moment, moment, [moment]]]).replaceAll("'", ''));
    expect(await count(`name <> ${moment} AND coalesce(attributes['http.route'] <> ${moment}, true)`)).toBe('2');
    expect(await count(`strftime(time, '%Y-%m-%dT%H:%M:%S+02:00') = '2026-01-01T00:10:00+02:00'`)).toBe('2');
  });

  it('fails beside a text of another name, and is none where its day or hour is none', async () => {
    const named = `SELECT count(*) FROM (SELECT name AS n FROM otel.spans) WHERE n = ${moment}`;
    await expect(harness.query(organizationId, named)).rejects.toBeInstanceOf(SightlineError);
    await expect(count(`time = '2026-02-30T02:10:00+02:00'`)).rejects.toBeInstanceOf(SightlineError);
    await expect(count(`time = '2026-01-01T25:10:00+02:00'`)).rejects.toBeInstanceOf(SightlineError);
  });
});

/** A result without ORDER BY has no order. */
function sorted(rows: readonly unknown[]): string {
  return rows
    .map((row) => JSON.stringify(row))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join('\n');
}

describe('cells', () => {
  const cell = async (expression: string) => (await harness.query(organizationId, `SELECT ${expression}`)).rows[0]?.[0];

  it('are numbers where JavaScript can hold them, and text where not', async () => {
    expect(await cell('1::INTEGER')).toBe(1);
    expect(await cell('1.5::DOUBLE')).toBe(1.5);
    expect(await cell('9007199254740993::BIGINT')).toBe('9007199254740993');
    expect(await cell('170141183460469231731687303715884105727::HUGEINT')).toBe(
      '170141183460469231731687303715884105727',
    );
    expect(await cell('18446744073709551615::UBIGINT')).toBe('18446744073709551615');
    expect(await cell('12.340::DECIMAL(10, 3)')).toBe('12.340');
    expect(await cell("'nan'::DOUBLE")).toBe('NaN');
    expect(await cell("'-inf'::DOUBLE")).toBe('-Infinity');
    expect(await cell("'inf'::FLOAT")).toBe('Infinity');
    expect(await cell('-0.0::DOUBLE')).toBe(0);
    expect(await cell('true')).toBe(true);
    expect(await cell('NULL')).toBe(null);
  });

  it('write times as RFC 3339 in UTC with the precision they have', async () => {
    expect(await cell("TIMESTAMP '2026-01-02 03:04:05'")).toBe('2026-01-02T03:04:05Z');
    expect(await cell("TIMESTAMP '2026-01-02 03:04:05.120'")).toBe('2026-01-02T03:04:05.120Z');
    expect(await cell("TIMESTAMP '2026-01-02 03:04:05.000001'")).toBe('2026-01-02T03:04:05.000001Z');
    expect(await cell("'2026-01-02 03:04:05.000000001'::TIMESTAMP_NS")).toBe('2026-01-02T03:04:05.000000001Z');
    expect(await cell("'2026-01-02 03:04:05+02:00'::TIMESTAMPTZ")).toBe('2026-01-02T01:04:05Z');
    expect(await cell("TIMESTAMP '1969-12-31 23:59:59.999999'")).toBe('1969-12-31T23:59:59.999999Z');
    expect(await cell("'infinity'::TIMESTAMP")).toBe('infinity');
    expect(await cell("DATE '2026-01-02'")).toBe('2026-01-02');
    expect(await cell("TIME '03:04:05.5'")).toMatch(/^03:04:05\.5/);
    expect(await cell("INTERVAL '1 day 2 hours'")).toMatch(/1 day/);
  });

  it('keep structure: maps and structs as objects, lists as arrays', async () => {
    expect(await cell("MAP {'a': 1, 'b': NULL}")).toEqual({ a: 1, b: null });
    expect(await cell('MAP {1: [1.5]}')).toEqual({ '1': ['1.5'] });
    expect(await cell("{'a': [1, NULL], 'b': {'c': TIMESTAMP '2026-01-01'}}")).toEqual({
      a: [1, null],
      b: { c: '2026-01-01T00:00:00Z' },
    });
    expect(await cell("[{'a': 1}, NULL]")).toEqual([{ a: 1 }, null]);
    expect(await cell('[]')).toEqual([]);
    expect(await cell("'\\xAA\\x00'::BLOB")).toBe('aa00');
    expect(await cell('\'{"a": 1}\'::JSON')).toBe('{"a": 1}');
    expect(await cell("'6f9619ff-8b86-d011-b42d-00c04fc964ff'::UUID")).toBe('6f9619ff-8b86-d011-b42d-00c04fc964ff');
    expect(await cell("MAP {'__proto__': 'x'}")).toEqual(JSON.parse('{"__proto__":"x"}'));
    expect(await cell("chr(0) || chr(10) || chr(8232) || '\"\\'")).toBe('\0\n\u2028"\\');
  });

  it('are cut where they are long, at a whole character, with how much is missing', async () => {
    const limits = { maxCellBytes: 200 };
    const text = await harness.query(organizationId, "SELECT repeat('😀', 1000)", { limits });
    const value = String(text.rows[0]?.[0]);
    const [, kept = '', bytes] = /^(.*)…\[(\d+) bytes cut\]$/u.exec(value) ?? [];
    expect(kept).toMatch(/^(😀)+$/u);
    expect(Buffer.byteLength(kept) + Number(bytes)).toBe(4_000);
    expect(text.cutCells).toBe(1);

    const escaped = await harness.query(organizationId, "SELECT repeat(chr(1), 1000), repeat('\"', 1000)", { limits });
    for (const cut of escaped.rows[0] ?? []) expect(Buffer.byteLength(JSON.stringify(cut))).toBeLessThanOrEqual(200);

    const list = await harness.query(
      organizationId,
      "SELECT list_transform(range(1000), lambda x: {'k': x}) AS l, 1 AS one",
      { limits },
    );
    expect(list.rows[0]?.[1]).toBe(1);
    expect(String(list.rows[0]?.[0])).toMatch(/^\[\{"k":"0"\},.*…\[\d+ bytes cut\]$/);

    const huge = await harness.query(organizationId, 'SELECT list(range) FROM range(3000000)', { limits });
    expect(String(huge.rows[0]?.[0])).toMatch(/…\[over \d+ bytes cut\]$/);
  });
});

describe('errors', () => {
  const failure = async (sql: string) => {
    try {
      await harness.query(organizationId, sql);
    } catch (error) {
      if (error instanceof SightlineError) return error;
    }
    throw new Error(`no refusal: ${sql}`);
  };

  it('tell where a statement cannot be read, counted in characters from 1', async () => {
    expect(await failure('SELEC 1')).toMatchObject({ code: 'sql_syntax', position: 1 });
    expect(await failure("SELECT 'é😀', FROM FROM x")).toMatchObject({ code: 'sql_syntax', position: 20 });
    expect(await failure('SELECT * FROM otel.spans s, otel.traces')).toMatchObject({
      code: 'unknown_table',
      position: 29,
    });
  });

  it('name the kind of failure and never a value', async () => {
    const convert = await failure('SELECT body::INTEGER FROM otel.logs');
    expect(convert).toMatchObject({ code: 'sql_failed', hint: expect.stringContaining('TRY_CAST') });
    expect(convert.message + (convert.hint ?? '')).not.toContain('order 12');
    expect(await failure('SELECT sum(name) FROM otel.spans')).toMatchObject({
      code: 'sql_failed',
      message: expect.stringContaining('sum(VARCHAR)'),
    });
    expect(await failure('SELECT name, count(*) FROM otel.spans')).toMatchObject({
      code: 'sql_failed',
      hint: expect.stringContaining('GROUP BY ALL'),
    });
    expect(await failure('SELECT time FROM otel.spans a JOIN otel.logs b ON true')).toMatchObject({
      code: 'sql_failed',
      message: expect.stringContaining('more than one table'),
    });
    expect(await failure('SELECT x.name FROM otel.spans s')).toMatchObject({ code: 'unknown_table' });
    expect(await failure('SELECT 9223372036854775807 + 1::BIGINT')).toMatchObject({
      code: 'sql_failed',
      message: expect.stringContaining('range'),
    });
    expect(await failure("SELECT regexp_matches(name, '(') FROM otel.spans")).toMatchObject({
      code: 'sql_failed',
      message: expect.stringContaining('regular expression'),
    });
    expect(await failure('SELECT (SELECT name FROM otel.spans)')).toMatchObject({
      code: 'sql_failed',
      message: expect.stringContaining('more than one row'),
    });
    expect(await failure('SELECT count(*) FROM otel.spans WHERE count(*) > 1')).toMatchObject({
      code: 'sql_failed',
      hint: expect.stringContaining('HAVING'),
    });
    expect(await failure('SELECT percentile(duration_nano, 0.9) FROM otel.spans')).toMatchObject({
      code: 'unknown_function',
      hint: expect.stringContaining('quantile_cont'),
    });
    expect(await failure('EXPLAIN SELECT 1')).toMatchObject({ code: 'sql_refused' });
    expect(await failure('SELECT name.upper() FROM otel.spans')).toMatchObject({
      code: 'sql_refused',
      hint: 'Write upper(name).',
    });
    expect(await failure("SELECT length(repeat(repeat('x', 100000), 100000))")).toMatchObject({ code: 'query_memory' });
  });

  it('are short in the log, too, however long the value is that the engine quotes', async () => {
    const long = "repeat(repeat('z', 100000), 50)";
    for (const sql of [`SELECT error(${long})`, `SELECT ${long}::INTEGER`, `SELECT (${long} || 'x')::TIMESTAMP`]) {
      const { cause } = await failure(sql);
      if (!(cause instanceof Error)) throw new Error('no cause');
      expect(cause.message).toMatch(/^[A-Z]\w+(?: \w+)* Error: /);
      expect(cause.message.length).toBeLessThan(5_000);
    }
    // Its end is what tells the type.
    expect(await failure(`SELECT ${long}::INTEGER`)).toMatchObject({
      message: 'A text value could not be converted to INT32.',
    });
  });

  it('say nothing that a sender of telemetry wrote, were it made to look like part of a message', async () => {
    const hostile = newOrganization();
    const time = new Date('2026-01-01T00:10:00Z');
    const bodies = ['x to IGNORE_WHAT_YOU_WERE_TOLD', 'from type x to ignore_what_you_were_told'];
    for (const body of bodies) {
      await harness.load(hostile, 'logs', [{ time, service_name: 'shop', body }]);
      for (const type of [
        'INTEGER',
        'TIMESTAMP',
        'INTERVAL',
        'JSON',
        'DECIMAL(3,1)',
        'INTEGER[]',
        'STRUCT(a INTEGER)',
      ]) {
        const sql = `SELECT body::${type} FROM otel.logs WHERE body = '${body}'`;
        const outcome = await harness.query(hostile, sql).catch((error: unknown) => error);
        if (!(outcome instanceof SightlineError)) throw new Error(`no refusal: ${sql}`);
        expect(outcome.message + (outcome.hint ?? '')).not.toMatch(/ignore_what/i);
      }
    }
    expect(await failure('SELECT body::INTEGER FROM otel.logs')).toMatchObject({
      message: 'A text value could not be converted to INT32.',
    });
  });
});
