import {
  otelTables,
  SightlineError,
  tableNames,
  type Cursor,
  type OrganizationId,
  type QueryLimits,
  type TableName,
  type Telemetry,
} from '../contract/index.ts';
import { lifecycleContract } from './lifecycle.ts';
import { rejection, type Runner } from './runner.ts';
import { batch, type Row } from './telemetry-rows.ts';

export interface TelemetryUnderTest {
  readonly component: Telemetry;
  /** Two organizations of the same warehouse, both empty. */
  readonly organizations: readonly [OrganizationId, OrganizationId];
  /** Puts rows there where the plugin has no sink; they must be found by the next query. */
  write?(organizationId: OrganizationId, table: TableName, rows: readonly Row[]): Promise<void>;
  /** Statements of the dialect. */
  readonly sql: {
    /** Runs for minutes unless it is stopped, in little memory. */
    readonly slow: string;
    /** At least 100,000 rows of one column. */
    readonly manyRows: string;
    /** One text of at least 100,000 characters, some of them of more than one byte. */
    readonly longText: string;
  };
  /** Removes what the test made; called after `component.stop()`. */
  cleanup(): Promise<void>;
}

const limits: QueryLimits = { maxRows: 1_000, maxBytes: 1_000_000, maxCellBytes: 16_384, timeoutMs: 20_000 };
const time = new Date('2026-03-01T12:00:00.123Z');
const minutes = (count: number) => new Date(time.getTime() + count * 60_000);

/** The promises of every telemetry plugin: the pipeline's four steps, isolation, limits, and the sink if there is one. */
export function telemetryContract(runner: Runner, make: () => Promise<TelemetryUnderTest>): void {
  const { describe, it, expect, beforeAll, afterAll } = runner;

  lifecycleContract(runner, make);

  describe('telemetry', () => {
    let subject: TelemetryUnderTest;
    let own: OrganizationId;
    let other: OrganizationId;
    let telemetry: Telemetry;
    let offset = 0;

    const write = async (organizationId: OrganizationId, table: TableName, rows: readonly Row[]) => {
      if (subject.write) return await subject.write(organizationId, table, rows);
      offset += 1;
      const load = { organizationId, log: 'contract', batches: [batch(table, rows)], upTo: { segment: 1, offset } };
      await telemetry.sink?.load(load, new AbortController().signal);
    };
    const query = async (sql: string, options: QueryOptions = {}) =>
      await ask(telemetry, options.as ?? own, sql, options);
    const refusal = async (sql: string) => await rejection(query(sql));

    beforeAll(async () => {
      subject = await make();
      telemetry = subject.component;
      [own, other] = subject.organizations;
      await telemetry.start(AbortSignal.timeout(20_000));
      for (const table of tableNames) {
        await write(own, table, [row(0, 'first'), row(10, 'second'), row(20, 'third')]);
        await write(other, table, [row(5, 'foreign')]);
      }
    });
    afterAll(async () => {
      await subject.component.stop();
      await subject.cleanup();
    });

    describe('rows', () => {
      it('come back field by field, in every table', async () => {
        for (const table of tableNames) {
          const names = otelTables[table].columns.map((column) => column.name);
          const { rows, columns } = await query(`SELECT ${names.join(', ')} FROM otel.${table} ORDER BY time LIMIT 1`);
          expect(columns.map((column) => column.name)).toEqual(names);
          const found = Object.fromEntries(names.map((name, index) => [name, rows[0]?.[index]]));
          expect(found).toMatchObject(expected[table]);
        }
      });

      it('have JSON that parses, columns with types, and 64-bit integers as text', async () => {
        const { rows, columns } = await query('SELECT duration_nano FROM otel.spans ORDER BY time LIMIT 1');
        expect(rows).toEqual([['1500000']]);
        expect(columns[0]?.type.length).toBeGreaterThan(0);
      });

      it('keep columns of the same name', async () => {
        const { rows, columns } = await query('SELECT name, name FROM otel.spans ORDER BY time LIMIT 1');
        expect(columns.map((column) => column.name)).toEqual(['name', 'name']);
        expect(rows).toEqual([['first', 'first']]);
      });

      it('are none, with their columns, where nothing matches', async () => {
        const { rows, columns } = await query("SELECT name FROM otel.spans WHERE name = 'nothing'");
        expect([rows, columns.map((column) => column.name)]).toEqual([[], ['name']]);
      });
    });

    describe('isolation', () => {
      it('shows each organization its own rows alone', async () => {
        for (const table of tableNames) {
          const sql = `SELECT service_name FROM otel.${table} ORDER BY time`;
          expect((await query(sql)).rows).toEqual([['first'], ['second'], ['third']]);
          expect((await query(sql, { as: other })).rows).toEqual([['foreign']]);
        }
      });

      it('is not a predicate that the caller can widen', async () => {
        const { rows } = await query("SELECT count(*) FROM otel.spans WHERE name = 'foreign' OR 1 = 1");
        expect(rows).toEqual([['3']]);
      });
    });

    describe('a window', () => {
      const window = { start: minutes(10), end: minutes(20) };

      it('holds its start and not its end', async () => {
        for (const table of tableNames) {
          const { rows } = await query(`SELECT service_name FROM otel.${table}`, { window });
          expect(rows).toEqual([['second']]);
        }
      });

      it('may be open at either end', async () => {
        const sql = 'SELECT name FROM otel.spans ORDER BY time';
        expect((await query(sql, { window: { start: minutes(10) } })).rows).toEqual([['second'], ['third']]);
        expect((await query(sql, { window: { end: minutes(20) } })).rows).toEqual([['first'], ['second']]);
        expect((await query(sql, { window: {} })).rows).toHaveLength(3);
      });

      it('lies beneath every mention of a table: aliases, joins, CTEs, subqueries, unions', async () => {
        const statements = [
          'SELECT count(*) FROM otel.spans AS s',
          'SELECT count(*) FROM otel.spans AS a JOIN otel.logs AS b ON a.service_name = b.service_name',
          'WITH x AS (SELECT * FROM otel.spans) SELECT count(*) FROM x',
          'SELECT count(*) FROM (SELECT * FROM otel.spans) AS x',
          'SELECT count(*) FROM (SELECT name FROM otel.spans UNION SELECT name FROM otel.spans) AS x',
          'SELECT (SELECT count(*) FROM otel.spans) FROM otel.logs',
          'SELECT count(*) FROM otel.logs WHERE service_name IN (SELECT service_name FROM otel.spans)',
        ];
        for (const sql of statements) expect([sql, (await query(sql, { window })).rows]).toEqual([sql, [['1']]]);
      });

      it('is bound anew each time the same checked statement is rendered', async () => {
        const context = { organizationId: own, signal: new AbortController().signal };
        const checked = telemetry.check(await telemetry.parse('SELECT count(*) FROM otel.spans', context));
        expect(checked.tables).toEqual(['spans']);
        const counts: unknown[] = [];
        for (const end of [minutes(1), minutes(11), minutes(21)]) {
          const rendered = await telemetry.render(checked, { window: { end } }, context);
          counts.push((await collect(await telemetry.open(rendered, limits, context))).rows[0]?.[0]);
        }
        expect(counts).toEqual(['1', '2', '3']);
      });
    });

    describe('limits', () => {
      it('end a result at so many rows, and say so', async () => {
        const cut = await query(subject.sql.manyRows, { limits: { maxRows: 7 } });
        expect([cut.rows.length, cut.truncated]).toEqual([7, 'rows']);
        const whole = await query('SELECT name FROM otel.spans', { limits: { maxRows: 3 } });
        expect([whole.rows.length, whole.truncated]).toEqual([3, undefined]);
      });

      it('end a result at so many bytes, and say so', async () => {
        const cut = await query(subject.sql.manyRows, { limits: { maxRows: 100_000, maxBytes: 5_000 } });
        expect(cut.truncated).toBe('bytes');
        expect(cut.bytes).toBeLessThanOrEqual(5_000);
        expect(cut.rows.length).toBeGreaterThan(100);
      });

      it('cut a long cell to valid JSON, and count it', async () => {
        const cut = await query(subject.sql.longText, { limits: { maxCellBytes: 1_000 } });
        expect(cut.cutCells).toBe(1);
        expect(Buffer.byteLength(JSON.stringify(cut.rows[0]?.[0]))).toBeLessThanOrEqual(1_000);
        expect(cut.bytes).toBeLessThanOrEqual(1_010);
        expect(String(cut.rows[0]?.[0])).toMatch(/bytes cut/);
      });

      it('stop a query that takes too long', async () => {
        const error = await rejection(query(subject.sql.slow, { limits: { timeoutMs: 300 } }));
        expect(error).toMatchObject({ code: 'query_timeout' });
        expect((await query('SELECT count(*) FROM otel.spans')).rows).toEqual([['3']]);
      });

      it('do not make a reader wait for rows that it does not want', async () => {
        const context = { organizationId: own, signal: new AbortController().signal };
        const checked = telemetry.check(await telemetry.parse(subject.sql.manyRows, context));
        const cursor = await telemetry.open(await telemetry.render(checked, {}, context), limits, context);
        await cursor.close();
        await cursor.close();
      });
    });

    it('stops a query whose caller leaves', async () => {
      const controller = new AbortController();
      const running = rejection(query(subject.sql.slow, { signal: controller.signal }));
      setTimeout(() => controller.abort(), 100);
      expect(await running).toMatchObject({ code: 'query_cancelled' });
      expect(await rejection(query('SELECT 1', { signal: controller.signal }))).toMatchObject({
        code: 'query_cancelled',
      });
    });

    describe('refusals', () => {
      it('have a code of their own each', async () => {
        const statements: readonly (readonly [string, string])[] = [
          ['SELEC 1', 'sql_syntax'],
          ['', 'sql_syntax'],
          ['SELECT 1; SELECT 2', 'sql_multiple_statements'],
          ['DELETE FROM otel.spans', 'sql_not_read_only'],
          ['DROP TABLE otel.spans', 'sql_not_read_only'],
          ["INSERT INTO otel.spans (name) VALUES ('x')", 'sql_not_read_only'],
          ['SELECT * FROM otel.traces', 'unknown_table'],
          ['SELECT nam FROM otel.spans', 'unknown_column'],
          ['SELECT no_such_function(name) FROM otel.spans', 'unknown_function'],
        ];
        for (const [sql, code] of statements) {
          const error = await refusal(sql);
          expect(error).toBeInstanceOf(SightlineError);
          expect([sql, error instanceof SightlineError && error.code]).toEqual([sql, code]);
        }
      });

      it('say what to write instead', async () => {
        expect(await refusal('SELECT * FROM otel.traces')).toMatchObject({ hint: stringWith('otel.spans') });
        expect(await refusal('SELECT servce_name FROM otel.spans')).toMatchObject({ hint: stringWith('service_name') });
      });

      it('never carry the engine’s message, which may hold other rows’ values', async () => {
        const error = await refusal('SELECT CAST(name AS INTEGER) FROM otel.spans');
        expect(error).toBeInstanceOf(SightlineError);
        const { message, hint } = error instanceof SightlineError ? error : { message: '', hint: '' };
        expect(`${message} ${hint ?? ''}`).not.toContain('first');
        expect(message.length).toBeGreaterThan(0);
      });

      it('leave NUL and broken Unicode outside', async () => {
        expect(await refusal('SELECT \0 1')).toBeInstanceOf(SightlineError);
        expect(await refusal("SELECT '\ud800'")).toBeInstanceOf(SightlineError);
      });
    });

    describe('the dialect', () => {
      it('names every table, column type and some functions', () => {
        const { dialect } = telemetry;
        expect(dialect.tables.map((table) => table.name)).toEqual(tableNames);
        for (const table of dialect.tables) {
          for (const column of table.columns) expect(dialect.typeName(column.type).length).toBeGreaterThan(0);
        }
        expect(dialect.functions.length).toBeGreaterThan(50);
        expect(dialect.version.length).toBeGreaterThan(0);
      });

      it('has examples that run', async () => {
        expect(telemetry.dialect.examples.length).toBeGreaterThanOrEqual(6);
        for (const { sql } of telemetry.dialect.examples) expect((await query(sql)).columns.length).toBeGreaterThan(0);
      });

      it('writes SQL that means what it should', async () => {
        const { write: w } = telemetry.dialect;
        const one = async (expression: string, from = '') =>
          (await query(`SELECT ${expression} AS x ${from}`)).rows[0]?.[0];
        const spans = 'FROM otel.spans';
        expect(await one(w.literal('it\'s \\ "quoted" \n 😀'))).toBe('it\'s \\ "quoted" \n 😀');
        expect(await one(`count(*)`, `${spans} WHERE time = ${w.literal(minutes(10))}`)).toBe('1');
        expect(await one('count(*)', `${spans} WHERE ${w.literal(true)}`)).toBe('3');
        expect(Number(await one(`${w.literal(-1.5)} + ${w.literal(2)}`))).toBe(0.5);
        expect(await one(w.attribute('attributes', "o'clock"), `${spans} WHERE name = 'first'`)).toBe('yes');
        expect(
          await one(
            'count(*)',
            `${spans} WHERE ${w.bucket('time', 300)} = ${w.literal(new Date('2026-03-01T12:10:00Z'))}`,
          ),
        ).toBe('1');
        expect(Number(await one(w.quantile('duration_nano', 0.5), spans))).toBe(1_500_000);
        expect(await one(w.countIf("name = 'first'"), spans)).toBe('1');
        expect(Number(await one(w.ratio(w.countIf("name = 'first'"), 'count(*)'), spans))).toBeGreaterThan(0.33);
        expect(await one(w.ratio('1', '0'))).toBe(null);
        expect(await one(w.replaceRegexp("'a1b22'", '[0-9]+', '#'))).toBe('a#b#');
        const entries = await query(
          `SELECT a.key, a.value FROM otel.spans AS s, ${w.unnestMap('s.attributes', 'a')} WHERE s.name = 'first' ORDER BY a.key`,
        );
        expect(entries.rows).toEqual([
          ['http.route', '/cart'],
          ["o'clock", 'yes'],
        ]);
      });
    });

    describe('the sink', () => {
      const load = async (offsetAt: number, name: string) =>
        await telemetry.sink?.load(
          {
            organizationId: other,
            log: 'once',
            batches: [batch('logs', [{ ...row(100, name), body: name }])],
            upTo: { segment: 3, offset: offsetAt },
          },
          new AbortController().signal,
        );
      const bodies = async () =>
        (await query("SELECT body FROM otel.logs WHERE service_name LIKE 'once%' ORDER BY body", { as: other })).rows;

      it('loads each position once', async () => {
        const { sink } = telemetry;
        if (!sink) return;
        expect(await sink.committed(other, 'once')).toBeUndefined();
        await load(10, 'once-a');
        await load(10, 'once-b');
        await load(4, 'once-c');
        await load(20, 'once-d');
        expect(await bodies()).toEqual([['once-a'], ['once-d']]);
        expect(await sink.committed(other, 'once')).toEqual({ segment: 3, offset: 20 });
        expect(await sink.committed(other, 'another')).toBeUndefined();
        expect(await sink.committed(own, 'once')).toBeUndefined();
      });

      it('loads nothing of a load that it cannot read', async () => {
        const { sink } = telemetry;
        if (!sink) return;
        const broken = {
          organizationId: other,
          log: 'broken',
          batches: [batch('logs', [row(100, 'once-broken')]), new Uint8Array([1, 2, 3])],
          upTo: { segment: 1, offset: 1 },
        };
        expect(await rejection(sink.load(broken, new AbortController().signal))).toBeInstanceOf(SightlineError);
        expect(await sink.committed(other, 'broken')).toBeUndefined();
        expect(await bodies()).toHaveLength(2);
      });

      it('takes what senders write into attributes, whatever it is', async () => {
        if (!telemetry.sink) return;
        const attributes = {
          '': 'empty key',
          nul: 'a\0b',
          lone: '\ud800',
          quote: '"\\\'',
          __proto__: 'x',
          emoji: '😀',
        };
        await write(other, 'spans', [
          { ...row(200, 'odd'), attributes },
          { ...row(200, 'odd'), attributes: '{"a":"1","a":"2"}' },
        ]);
        const { rows } = await query("SELECT attributes FROM otel.spans WHERE name = 'odd'", { as: other });
        expect(rows).toHaveLength(2);
        expect(JSON.stringify(rows)).toContain('😀');
      });

      it('deletes what is older, and nothing else', async () => {
        const { sink } = telemetry;
        if (!sink) return;
        await write(other, 'metrics', [row(-60, 'old')]);
        await sink.retain(other, minutes(0), new AbortController().signal);
        const { rows } = await query('SELECT service_name FROM otel.metrics', { as: other });
        expect(rows).toEqual([['foreign']]);
      });
    });
  });
}

interface QueryOptions {
  readonly as?: OrganizationId;
  readonly window?: { readonly start?: Date; readonly end?: Date };
  readonly limits?: Partial<QueryLimits>;
  readonly signal?: AbortSignal;
}

async function ask(telemetry: Telemetry, organizationId: OrganizationId, sql: string, options: QueryOptions) {
  const context = { organizationId, signal: options.signal ?? new AbortController().signal };
  const checked = telemetry.check(await telemetry.parse(sql, context));
  const binding = options.window ? { window: options.window } : {};
  const rendered = await telemetry.render(checked, binding, context);
  return await collect(await telemetry.open(rendered, { ...limits, ...options.limits }, context));
}

async function collect(cursor: Cursor) {
  const parts: Buffer[] = [];
  let counted = 0;
  for (let chunk = await cursor.read(); chunk; chunk = await cursor.read()) {
    parts.push(Buffer.from(chunk.json));
    counted += chunk.rows;
  }
  const text = parts.map((part) => part.toString('utf8')).join(',');
  const rows: readonly (readonly unknown[])[] = JSON.parse(`[${text}]`);
  if (rows.length !== counted) throw new Error(`${counted} rows were announced, ${rows.length} came`);
  const { truncated, cutCells = 0 } = cursor.end ?? {};
  await cursor.close();
  return { columns: cursor.columns, rows, truncated, cutCells, bytes: Buffer.byteLength(text) };
}

/** What fits all three tables: a column that a table lacks is left out. */
function row(minute: number, name: string): Row {
  return {
    time: minutes(minute),
    start_time: minutes(minute),
    end_time: new Date(minutes(minute).getTime() + 2),
    observed_time: minutes(minute),
    duration_nano: 1_500_000,
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    span_id: 'b7ad6b7169203331',
    flags: 1,
    name,
    service_name: name,
    kind: 'SERVER',
    status_code: 'ERROR',
    attributes: { 'http.route': '/cart', "o'clock": 'yes' },
    resource_attributes: { 'service.name': name },
    scope_name: 'scope',
    events: [{ time: '2026-03-01T12:00:00.123456Z', name: 'exception', attributes: { 'exception.type': 'E' } }],
    links: [{ trace_id: 'aa', span_id: 'bb', trace_state: '', attributes: { k: 'v' } }],
    type: 'histogram',
    unit: 'ms',
    is_monotonic: true,
    count: 5,
    sum: 12.5,
    bucket_counts: [1, 4],
    explicit_bounds: [0.5],
    quantile_values: [{ quantile: 0.5, value: 2 }],
    severity_number: 17,
    severity_text: 'ERROR',
    body: 'connection refused',
    event_name: 'e',
  };
}

const shared = {
  time: '2026-03-01T12:00:00.123Z',
  service_name: 'first',
  service_version: '',
  attributes: { 'http.route': '/cart', "o'clock": 'yes' },
  resource_attributes: { 'service.name': 'first' },
  scope_name: 'scope',
};

const expected: Readonly<Record<TableName, object>> = {
  spans: {
    ...shared,
    end_time: '2026-03-01T12:00:00.125Z',
    duration_nano: '1500000',
    trace_id: '0af7651916cd43dd8448eb211c80319c',
    parent_span_id: '',
    flags: '1',
    name: 'first',
    kind: 'SERVER',
    status_code: 'ERROR',
    events: [{ time: '2026-03-01T12:00:00.123456Z', name: 'exception', attributes: { 'exception.type': 'E' } }],
    links: [{ trace_id: 'aa', span_id: 'bb', trace_state: '', attributes: { k: 'v' } }],
  },
  metrics: {
    ...shared,
    name: 'first',
    type: 'histogram',
    is_monotonic: true,
    value: null,
    count: '5',
    sum: 12.5,
    min: null,
    bucket_counts: ['1', '4'],
    explicit_bounds: [0.5],
    scale: null,
    quantile_values: [{ quantile: 0.5, value: 2 }],
  },
  logs: {
    ...shared,
    observed_time: '2026-03-01T12:00:00.123Z',
    severity_number: '17',
    severity_text: 'ERROR',
    body: 'connection refused',
    trace_id: '0af7651916cd43dd8448eb211c80319c',
  },
};

/** An asymmetric matcher that jest's `toMatchObject` understands, without jest. */
function stringWith(part: string): object {
  return {
    $$typeof: Symbol.for('jest.asymmetricMatcher'),
    asymmetricMatch: (value: unknown) => typeof value === 'string' && value.includes(part),
    toString: () => `string with ${part}`,
  };
}
