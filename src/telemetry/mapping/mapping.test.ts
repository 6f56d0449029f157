import { describe, expect, it } from '@jest/globals';
import {
  mappingSchema,
  otelTables,
  tableNames,
  type MappingPreset,
  type ReadRules,
  type RelationWriter,
  type StatementBinding,
} from '../../contract/telemetry/index.ts';
import { mappingHelpers } from './mapping.ts';

const writer: RelationWriter = {
  identifier: (name) => `"${name}"`,
  timestamp: (time) => `T'${time.toISOString()}'`,
  empty: ({ type, nullable }) => (nullable ? 'NULL' : `empty_${type}`),
  text: (expression, action, salt) => `${action}(${expression}, ${salt})`,
  attributes: (expression, type, { attributes }) =>
    `${type}(${expression}, ${attributes.map(({ key }) => key).join()})`,
  filter: (tenant, others) =>
    [
      ...(tenant === undefined ? [] : [`PREWHERE ${tenant}`]),
      ...(others.length ? [`WHERE ${others.join(' AND ')}`] : []),
    ].join(' '),
};

const exporter: MappingPreset = {
  name: 'exporter',
  title: 'An exporter',
  names: { database: 'otel', spans: 'otel_traces' },
  async sources(names, columns) {
    const table = `${names['database']}.${names['spans']}`;
    if ((await columns(table)) === undefined) return {};
    return { spans: [{ from: table, columns: { time: 'Timestamp', name: 'SpanName', attributes: 'SpanAttributes' } }] };
  },
};

const resolve = (config: unknown, there: readonly string[] = ['otel.otel_traces']) =>
  mappingHelpers.resolve(
    mappingSchema.parse(config),
    [exporter],
    async (table) => (there.includes(table) ? new Map([['Timestamp', 'DateTime64(9)']]) : undefined),
    writer,
  );

const rejection = async (config: unknown, there?: readonly string[]) => {
  try {
    await resolve(config, there);
  } catch (error) {
    return error;
  }
  return undefined;
};

describe('a mapping', () => {
  it('has an expression for every column, and says which are empty', async () => {
    const { preset, tables, empties } = await resolve({ preset: 'exporter' });
    expect(preset).toBe('exporter');
    expect(Object.keys(tables)).toEqual(['spans']);
    const columns = tables.spans?.[0]?.columns ?? {};
    expect(Object.keys(columns)).toEqual(otelTables.spans.columns.map(({ name }) => name));
    expect(columns).toMatchObject({ time: 'Timestamp', start_time: 'Timestamp', kind: 'empty_string' });
    expect(empties).toContainEqual({ table: 'spans', column: 'kind' });
    expect(empties.some(({ column }) => column === 'start_time' || column === 'name')).toBe(false);
  });

  it('takes the config over the preset', async () => {
    const { tables } = await resolve(
      {
        preset: 'exporter',
        names: { spans: 'traces' },
        tables: {
          spans: { columns: { name: 'Op' }, where: 'Sampled = 1' },
          logs: { from: 'l', columns: { time: 't' } },
        },
      },
      ['otel.traces'],
    );
    expect(tables.spans).toMatchObject([
      { from: 'otel.traces', where: 'Sampled = 1', columns: { name: 'Op', time: 'Timestamp' } },
    ]);
    expect(tables.logs).toMatchObject([{ from: 'l', columns: { time: 't', observed_time: 't' } }]);
  });

  it('leaves a table out that the config says is not there', async () => {
    const { tables } = await resolve({
      preset: 'exporter',
      tables: { spans: false, logs: { from: 'l', columns: { time: 't' } } },
    });
    expect(Object.keys(tables)).toEqual(['logs']);
  });

  it.each<[string, unknown, string]>([
    ['an unknown preset', { preset: 'nobody' }, 'telemetry.mapping.preset'],
    ['a name of no preset', { names: { spans: 'x' } }, 'telemetry.mapping.names.spans'],
    ['an unknown name', { preset: 'exporter', names: { spams: 'x' } }, 'telemetry.mapping.names.spams'],
    [
      'an unknown column',
      { preset: 'exporter', tables: { spans: { columns: { naem: 'x' } } } },
      'telemetry.mapping.tables.spans.columns.naem',
    ],
    [
      'a table from nowhere',
      { preset: 'exporter', tables: { logs: { columns: { time: 't' } } } },
      'telemetry.mapping.tables.logs.from',
    ],
    ['a table without time', { tables: { logs: { from: 'l' } } }, 'telemetry.mapping.tables.logs.columns.time'],
    ['nothing', {}, 'telemetry.mapping maps no table'],
  ])('refuses %s by the key', async (_name, config, key) => {
    expect(await rejection(config)).toMatchObject({ code: 'config_invalid', message: expect.stringContaining(key) });
  });

  it.each<[string, object]>([
    ['spans.from', { from: 'traces -- the new ones' }],
    ['spans.where', { where: 'Sampled = 1 -- and no others' }],
    ['spans.where', { where: 'a = 1) OR (b = 2' }],
    ['spans.where', { where: "name = 'o" }],
    ['spans.where', { where: 'a = 1; b' }],
    ['spans.columns.name', { columns: { name: 'f(a[1)]' } }],
    ['spans.columns.name', { columns: { name: 'a /* b' } }],
    ['spans.timeBounds.1', { timeBounds: ['day >= {start}', 'toDate({end} > day'] }],
  ])('refuses %s that does not end where it ends: %j', async (key, source) => {
    expect(await rejection({ preset: 'exporter', tables: { spans: source } })).toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(new RegExp(`^telemetry\\.mapping\\.tables\\.${key} holds `)),
    });
  });

  it('takes expressions with whatever signs in their quotes', async () => {
    const where = String.raw`a = '--;(' AND "b;" <> 'it''s (' AND ${'`c--`'} = 'it\'s' AND d['x'] = f({'k': [1]}) AND x -> 'y' #>> '{z}' = ''`;
    const { tables } = await resolve({ preset: 'exporter', tables: { spans: { where } } });
    expect(tables.spans).toMatchObject([{ where }]);
  });

  it('refuses a preset of which nothing is there', async () => {
    expect(await rejection({ preset: 'exporter' }, [])).toMatchObject({ message: expect.stringContaining('exporter') });
  });
});

describe('a relation', () => {
  const relation = async (binding: StatementBinding, tenant: string | undefined, spans: object = {}) =>
    mappingHelpers.relation(
      await resolve({ preset: 'exporter', tables: { spans } }),
      'spans',
      { binding, tenant },
      writer,
    );
  const start = new Date('2026-03-01T00:00:00Z');
  const end = new Date('2026-03-02T00:00:00Z');

  it('has the tenant before everything else, then what always holds, then the window', async () => {
    expect(await relation({ window: { start, end } }, "org = 'a'", { where: 'x OR y' })).toMatch(
      / FROM otel\.otel_traces PREWHERE org = 'a' WHERE \(x OR y\) AND \(Timestamp\) >= T'2026-03-01T00:00:00.000Z' AND \(Timestamp\) < T'2026-03-02T00:00:00.000Z'\)$/,
    );
  });

  it('has the bounds that reach the sort key, where their end is known', async () => {
    const timeBounds = ['bucket >= f({start})', 'bucket <= f({end})'];
    expect(await relation({ window: { start } }, undefined, { timeBounds })).toMatch(
      /AND \(bucket >= f\(T'2026-03-01T00:00:00.000Z'\)\)\)$/,
    );
    expect(await relation({}, undefined, { timeBounds })).toMatch(/ FROM otel\.otel_traces\)$/);
  });

  it('shows the columns that a statement may name, and the time in any case', async () => {
    const names = async (columns: string[]) =>
      [...(await relation({ columns: new Set(columns) }, "org = 'a'")).matchAll(/ AS "(\w+)"/g)].map(
        ([, name]) => name,
      );
    expect(await names(['name', 'org', 'no_such'])).toEqual(['time', 'name']);
    expect(await names([])).toEqual(['time']);
    expect(await relation({ columns: new Set() }, "org = 'a'")).toMatch(/PREWHERE org = 'a'\)$/);
  });

  it('is selected as the dialect says', async () => {
    const select: RelationWriter['select'] = (columns, from, tenant, others) =>
      `SELECT ${columns.map(([name]) => name).join()} OF ${from} FOR ${tenant} AND ${others.join()}`;
    const mapping = await resolve({ preset: 'exporter', tables: { spans: { where: 'w' } } });
    expect(mappingHelpers.relation(mapping, 'spans', { binding: {}, tenant: 't' }, { ...writer, select })).toMatch(
      /^\(SELECT time,start_time,.* OF otel\.otel_traces FOR t AND \(w\)\)$/,
    );
  });

  it('binds the rules of the caller', async () => {
    const none = { columns: new Map(), attributes: [] };
    const rules: ReadRules = {
      key: 'k',
      salt: 's',
      tables: {
        metrics: none,
        logs: none,
        spans: {
          columns: new Map([
            ['name', 'hash'],
            ['kind', 'deny'],
            ['duration_nano', 'mask'],
          ]),
          attributes: [{ key: 'user.email', prefix: false, action: 'deny' }],
        },
      },
    };
    const sql = await relation({ rules }, undefined);
    expect(sql).toContain('hash(SpanName, s) AS "name"');
    expect(sql).not.toContain('"kind"');
    expect(sql).toContain('empty_int64 AS "duration_nano"');
    expect(sql).toContain('map(SpanAttributes, user.email) AS "attributes"');
    expect(sql).toContain('empty_events AS "events"');
  });

  it('is refused for a table that the warehouse has not', async () => {
    const mapping = await resolve({ preset: 'exporter' });
    for (const table of tableNames.filter((name) => name !== 'spans')) {
      expect(() => mappingHelpers.relation(mapping, table, { binding: {}, tenant: undefined }, writer)).toThrow(
        `This warehouse holds no otel.${table}.`,
      );
    }
  });
});
