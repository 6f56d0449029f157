import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { otelTables, tableNames, type ReadRules } from '../../../src/contract/telemetry/index.ts';
import { describeOnEngine } from '../../../test/support/clickhouse/with-engine.ts';
import { jsonAttribute } from '../json-attributes.ts';
import { relationWriter } from '../relation-writer.ts';
import { openEngine, remove, type Engine } from '../support/layouts/engine.ts';
import { build, layouts, type Layout } from '../support/layouts/index.ts';
import { mapped } from '../support/layouts/mapped.ts';
import { firstDay, spans } from '../support/layouts/telemetry.ts';

const day = 86_400_000;
const window = { start: new Date(firstDay + day), end: new Date(firstDay + day + 3_600_000) };

describeOnEngine('a preset over its real tables', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine();
    for (const layout of layouts) await build(engine, layout);
  });
  afterAll(async () => {
    await engine?.[Symbol.asyncDispose]();
    if (engine) remove(engine.directory);
  });
  const open = ({ preset, names }: Layout) => mapped(engine.rows, { preset, names });
  const named = layouts.map((layout) => [layout.name, layout] as const);
  const iso = "SETTINGS date_time_output_format = 'iso', output_format_json_quote_64bit_integers = 1";

  it.each(named)('selects every logical column, typed: %s', async (_name, layout) => {
    const { relation, json } = await open(layout);
    for (const table of tableNames) {
      const columns = await engine.rows(`DESCRIBE (SELECT * FROM ${relation(table)})`);
      expect(columns.map(({ name }) => name)).toEqual(otelTables[table].columns.map(({ name }) => name));
      const types = Object.fromEntries(columns.map(({ name, type }) => [String(name), String(type)]));
      for (const { name, type } of otelTables[table].columns) {
        const wanted = {
          timestamp: /^(Nullable\()?DateTime/,
          string: /^(LowCardinality\()?(Fixed)?String/,
          int64: /^(Nullable\()?U?Int64/,
          float64: /^(Nullable\()?Float64/,
          boolean: /^Nullable\(Bool/,
          map:
            json.size > 0 && !name.startsWith('otlp')
              ? /^JSON|^Map\(String, String/
              : /^Map\((LowCardinality\()?String\)?, String/,
          'int64[]': /^Array\(Int64/,
          'float64[]': /^Array\(Float64/,
          events: /^Array\(Tuple\(\s*time DateTime64\(9, 'UTC'\),\s*name String,\s*attributes Map\(String, String\)/,
          links: /^Array\(Tuple\(\s*trace_id String/,
          exemplars: /^Array\(Tuple\(\s*time DateTime64\(9, 'UTC'\),\s*value Float64/,
          quantiles: /^Array\(Tuple\(\s*quantile Float64/,
        }[type];
        expect({ name: `${table}.${name}`, fits: wanted.test(types[name] ?? '') }).toEqual({
          name: `${table}.${name}`,
          fits: true,
        });
      }
      const [row] = await engine.rows(`SELECT count() AS n FROM ${relation(table)}`);
      expect(Number(row?.['n'])).toBe(layout.preset === 'signoz' && table === 'metrics' ? 288 : 720);
    }
  });

  it('answers the same for the same telemetry, whatever the layout', async () => {
    const answers = [];
    for (const layout of layouts) {
      const { relation, json } = await open(layout);
      const read = (column: string, key: string) =>
        json.size > 0 ? jsonAttribute(column, key) : `${column}['${key}']`;
      answers.push({
        layout: layout.name,
        spans: await engine.rows(
          `SELECT time, start_time, end_time, toInt64(duration_nano) AS duration, toString(trace_id) AS trace, span_id, parent_span_id, name, kind, status_code,
             status_message, service_name, service_version, deployment_environment, ${read('attributes', 'http.route')} AS route,
             ${read('attributes', 'nothing')} AS nothing, ${read('resource_attributes', 'tenant.id')} AS tenant, events, links
           FROM ${relation('spans')} ORDER BY time LIMIT 25 ${iso}`,
        ),
        logs: await engine.rows(
          `SELECT time, severity_number, severity_text, body, toString(trace_id) AS trace, span_id, flags, service_name, service_version,
             deployment_environment, ${read('attributes', 'user.email')} AS email, scope_name, scope_version
           FROM ${relation('logs')} ORDER BY time LIMIT 25 ${iso}`,
        ),
        metrics: await engine.rows(
          `SELECT toDateTime(time, 'UTC') AS at, name, type, unit, value, service_name, ${read('attributes', 'host')} AS host
           FROM ${relation('metrics')} WHERE type IN ('gauge', 'sum') ORDER BY at LIMIT 25 ${iso}`,
        ),
      });
    }
    const [first, ...others] = answers;
    expect(first?.spans[0]).toMatchObject({
      time: '2026-03-01T00:00:00.000000000Z',
      kind: 'SERVER',
      status_code: 'ERROR',
      route: '/cart',
      nothing: '',
      tenant: 'acme',
      deployment_environment: 'production',
      events: [{ name: 'exception', attributes: { 'exception.type': 'Timeout' } }],
      links: [{ trace_id: 'ab', span_id: 'cd' }],
    });
    for (const other of others) expect({ ...other, layout: first?.layout }).toEqual(first);
  });

  it('gives every kind of metric its own columns', async () => {
    for (const layout of layouts.filter(({ preset }) => preset === 'otel-collector' || preset === 'clickstack')) {
      const { relation } = await open(layout);
      const rows = await engine.rows(
        `SELECT type, any(aggregation_temporality) AS temporality, max(is_monotonic) AS monotonic, any(count) AS n, any(min) AS least,
           any(bucket_counts) AS buckets, any(scale) AS scale, any(positive_bucket_counts) AS positive, any(quantile_values) AS quantiles,
           countIf(start_time IS NULL) AS unstarted, countIf(value IS NULL) AS unvalued FROM ${relation('metrics')} GROUP BY type ORDER BY type`,
      );
      expect({ layout: layout.name, rows }).toMatchObject({
        rows: [
          { type: 'exponential_histogram', temporality: 'delta', n: 4, scale: 2, positive: [3], unvalued: 144 },
          { type: 'gauge', temporality: '', monotonic: null, n: null, unvalued: 0 },
          { type: 'histogram', temporality: 'delta', least: 1, buckets: [1, 3] },
          { type: 'sum', temporality: 'cumulative', monotonic: true, buckets: [] },
          { type: 'summary', quantiles: [{ quantile: 0.5, value: 2 }], least: null, unstarted: 0 },
        ],
      });
    }
  });

  it('denies and masks what a JSON column keeps as an object, a list or a text', async () => {
    const { attributes } = relationWriter({ json: new Set(['kept']), prewhere: new Set() });
    const kept = [
      { user: { email: 'secret', id: 7 } },
      { user: [{ email: 'secret' }] },
      { user: '{"email":"secret"}' },
    ];
    const texts = [...kept, { users: 1 }].map((value) => `'${JSON.stringify(value).replaceAll('\\', '\\\\')}'`);
    const source = `(SELECT arrayJoin([${texts.join(', ')}])::JSON AS kept)`;
    const shown = async (action: 'deny' | 'mask') => {
      const rules = { salt: '', attributes: [{ key: 'user.email', prefix: false, action }] };
      const rows = await engine.rows(
        `SELECT toJSONString(${attributes('kept', 'map', rules)}) AS shown FROM ${source}`,
      );
      return rows.map((row) => JSON.parse(String(row['shown'])));
    };
    expect(
      JSON.stringify(await engine.rows(`SELECT toJSONString(kept) AS shown FROM ${source}`)).split('secret'),
    ).toHaveLength(4);
    expect(await shown('deny')).toEqual([{ user: { id: 7 } }, {}, {}, { users: 1 }]);
    expect(await shown('mask')).toEqual([
      { user: { email: '***', id: '7' } },
      { user: '***' },
      { user: '***' },
      { users: '1' },
    ]);
  });

  it('shows exemplars, and what is said of the scope', async () => {
    for (const layout of layouts.filter(({ preset }) => preset === 'otel-collector' || preset === 'clickstack')) {
      const { relation, json } = await open(layout);
      const build = json.size > 0 ? jsonAttribute('scope_attributes', 'build') : "scope_attributes['build']";
      const rows = await engine.rows(
        `SELECT DISTINCT type = 'summary' AS bare, exemplars, ${build} AS build, schema_url, otlp_fields FROM ${relation('metrics')} ORDER BY bare ${iso}`,
      );
      const scope = {
        build: '7',
        schema_url: 'https://example.com/2',
        otlp_fields: { resource_schema_url: 'https://example.com/1', scope_dropped_attributes_count: '2' },
      };
      const exemplar = { value: 1.5, trace_id: 'ab', span_id: 'cd', filtered_attributes: { 'user.id': '4' } };
      expect({ layout: layout.name, rows }).toMatchObject({
        rows: [
          { exemplars: [{ time: '2026-03-01T00:00:00.500000000Z', ...exemplar }], ...scope },
          { exemplars: [], ...scope },
        ],
      });
      const [log] = await engine.rows(`SELECT schema_url, otlp_fields FROM ${relation('logs')} LIMIT 1`);
      expect(log).toEqual({ schema_url: '', otlp_fields: {} });
    }
  });

  const read = async (sql: string) => {
    const lines = (await engine.rows(`EXPLAIN indexes = 1 ${sql}`)).map(({ explain }) => String(explain));
    const granules = lines.flatMap((line) => /Granules: (\d+)\/(\d+)/.exec(line)?.slice(1).map(Number) ?? []);
    return { plan: lines.join('\n'), left: granules.at(-2) ?? 0, all: Math.max(...granules) };
  };
  const pruned = async (sql: string) => {
    const { plan, left, all } = await read(sql);
    if (left < all) return '';
    return `${left} of ${all} granules are read:\n${plan}`;
  };

  it.each(named)('reaches partitions, sort key and indexes: %s', async (_name, layout) => {
    const { relation } = await open(layout);
    for (const table of tableNames) {
      expect(await pruned(`SELECT count() FROM ${relation(table, 'acme', { window })}`)).toBe('');
    }
    const [one] = spans;
    expect(await pruned(`SELECT name FROM ${relation('spans')} WHERE trace_id = '${one?.traceId}'`)).toBe('');
    if (layout.preset === 'signoz') return;
    expect(await pruned(`SELECT name FROM ${relation('spans')} WHERE service_name = 'cart'`)).toBe('');
    expect(await pruned(`SELECT body FROM ${relation('logs', 'acme', { window })} WHERE service_name = 'cart'`)).toBe(
      '',
    );
    const own = `time >= toDateTime64('2026-03-02 00:00:00', 9, 'UTC') AND time < toDateTime64('2026-03-02 01:00:00', 9, 'UTC')`;
    expect(await pruned(`SELECT count() FROM ${relation('spans')} WHERE ${own}`)).toBe('');
  });

  it.each(named)("shows no tenant another's rows, nor anything of them in an error: %s", async (_name, layout) => {
    const { relation } = await open(layout);
    const [both] = await engine.rows(
      `SELECT (SELECT count() FROM ${relation('logs', 'globex')} WHERE body LIKE '%globex%') AS theirs,
              (SELECT count() FROM ${relation('logs', 'acme')} WHERE body LIKE '%globex%') AS leaked`,
    );
    expect(both).toEqual({ theirs: 720, leaked: 0 });
    for (const table of tableNames) {
      const text = table === 'metrics' ? 'description' : table === 'logs' ? 'body' : 'status_message';
      for (const probe of [
        `SELECT count() FROM ${relation(table)} WHERE toUInt8(${text}) = 1`,
        `SELECT count() FROM ${relation(table)} WHERE throwIf(${text} LIKE '%lobex%') = 0`,
        `SELECT count() FROM ${relation(table)} WHERE CAST(concat('x', ${text}), 'Int64') > 0 AND time > now()`,
      ]) {
        const message = await engine.rows(probe).then(
          () => '',
          (error: unknown) => String(error).replace(/: In scope.*/s, ''),
        );
        expect(message).not.toMatch(/globex|FUNCTION_THROW_IF/);
      }
    }
  });

  it.each(named)('is not reached by names of the statement around it: %s', async (_name, layout) => {
    const { relation } = await open(layout);
    const functions = ['equals', 'in', 'arrayElement', 'getSubcolumn', 'CAST', 'greaterOrEquals', 'less', 'and'];
    const lambdas = functions.map((name) => `(a, b) -> 1 AS \`${name}\``).join(', ');
    for (const statement of [
      `WITH ${lambdas} SELECT count() AS n FROM ${relation('logs', 'acme')}`,
      `WITH 'acme' AS organization, map('tenant.id', 'acme') AS ResourceAttributes SELECT count() AS n FROM ${relation('logs', 'acme')}`,
      `WITH view AS (SELECT 1), sightline AS (SELECT 2), otel_logs AS (SELECT 3) SELECT count() AS n FROM ${relation('logs', 'acme')}`,
    ]) {
      const [row] = await engine.rows(statement);
      expect({ statement: statement.slice(0, 60), ...row }).toMatchObject({ n: 720 });
    }
  });

  it('is not misled by an operation named as the tenant', async () => {
    await engine.rows(
      'CREATE TABLE named_alike (at DateTime64(9), name String, op String) ENGINE = MergeTree ORDER BY at',
    );
    await engine.rows("INSERT INTO named_alike VALUES (now64(9), 'acme', 'GET /'), (now64(9), 'globex', 'acme')");
    const { relation } = await mapped(
      engine.rows,
      { tables: { spans: { from: 'default.named_alike', columns: { time: 'at', name: 'op' } } } },
      { mode: 'column', column: 'name', type: 'string' },
    );
    expect(await engine.rows(`SELECT name FROM ${relation('spans')}`)).toEqual([{ name: 'GET /' }]);
  });

  it('never reads a tenant that a statement says where the table has no such column', async () => {
    const { relation } = await mapped(
      engine.rows,
      { tables: { spans: { from: 'default.named_alike', columns: { time: 'at' } } } },
      { mode: 'column', column: 'tenant_id', type: 'string' },
    );
    const statement = `WITH 'acme' AS tenant_id SELECT 'acme' AS tenant_id, count() FROM ${relation('spans')}`;
    await expect(engine.rows(statement)).rejects.toThrow(/tenant_id/);
  });

  it('keeps tenants apart in a view and a join, which know no PREWHERE', async () => {
    await engine.rows('CREATE VIEW named_view AS SELECT at, name, op FROM named_alike');
    for (const from of [
      'default.named_view',
      'default.named_alike AS a INNER JOIN (SELECT 1 AS one) AS b ON b.one = 1',
    ]) {
      const { relation } = await mapped(
        engine.rows,
        { tables: { spans: { from, columns: { time: 'at', status_message: 'op' } } } },
        { mode: 'column', column: 'name', type: 'string' },
      );
      expect(await engine.rows(`SELECT status_message FROM ${relation('spans')}`)).toEqual([
        { status_message: 'GET /' },
      ]);
      const oracle = `SELECT count() FROM ${relation('spans')} WHERE throwIf(status_message = 'acme') = 0`;
      expect(await engine.rows(oracle)).toEqual([{ 'count()': 1 }]);
    }
  });

  it.each(named)('binds the rules of the caller: %s', async (_name, layout) => {
    const { relation, json } = await open(layout);
    const get = (key: string) => (json.size > 0 ? jsonAttribute('attributes', key) : `attributes['${key}']`);
    const rules = (attributes: ReadRules['tables']['spans']['attributes']): ReadRules => {
      const columns = new Map([
        ['status_message', 'mask'],
        ['service_name', 'hash'],
        ['kind', 'deny'],
      ] as const);
      const table = { columns, attributes };
      const none = { columns: new Map(), attributes: [] };
      return { key: 'k', salt: 'ab', tables: { spans: table, metrics: none, logs: none } };
    };
    const denied = relation('spans', 'acme', {
      rules: rules([
        { key: 'user.', prefix: true, action: 'deny' },
        { key: 'exception.type', prefix: false, action: 'deny' },
      ]),
    });
    expect(
      await engine.rows(`SELECT service_name, status_message, ${get('user.email')} AS email, ${get('http.route')} AS route,
        events[1].attributes AS event FROM ${denied} ORDER BY time LIMIT 1`),
    ).toEqual([{ service_name: '11bc09c7fdc7e4c3', status_message: '***', email: '', route: '/cart', event: {} }]);
    await expect(engine.rows(`SELECT kind FROM ${denied}`)).rejects.toThrow(/kind/);
    const hidden = relation('spans', 'acme', {
      rules: rules([
        { key: 'user.email', prefix: false, action: 'hash' },
        { key: 'http.', prefix: true, action: 'mask' },
        { key: 'exception.', prefix: true, action: 'mask' },
      ]),
    });
    const [row] = await engine.rows(
      `SELECT ${get('user.email')} AS email, ${get('http.route')} AS route, events[1].attributes AS event FROM ${hidden} ORDER BY time LIMIT 1`,
    );
    expect(row).toEqual({
      email: expect.stringMatching(/^[0-9a-f]{16}$/),
      route: '***',
      event: { 'exception.type': '***' },
    });
  });
});
