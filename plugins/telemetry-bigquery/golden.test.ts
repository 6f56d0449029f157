import { describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import {
  tableNames,
  type ReadRules,
  type StatementBinding,
  type TableName,
} from '../../src/contract/telemetry/index.ts';
import { contextOf } from '../../test/contract/telemetry/warehouse.ts';
import { collectorTables, googleCloudTables } from '../../test/support/bigquery/layouts.ts';
import { acme, Harness } from './support/harness.ts';

const start = new Date('2026-03-01T12:00:00.123Z');
const end = new Date('2026-03-02T00:00:00Z');
const windows = { open: {}, from: { start }, both: { start, end } } as const;

const tenancies = {
  none: { boundary: { mode: 'none', organization: 'acme' } },
  'a column': { boundary: { mode: 'column', column: 'tenant_id' } },
  'a column of integers': {
    boundary: { mode: 'column', column: 'tenant', type: 'int' },
    organizations: { acme: '42' },
  },
  'a resource attribute': { boundary: { mode: 'resource_attribute', key: 'service.namespace' } },
  'an attribute': { boundary: { mode: 'attribute', key: 'tenant.id' } },
  'an expression': { boundary: { mode: 'expression', expression: "SPLIT(tenant, '/')[OFFSET(0)]" } },
  'a dataset': { boundary: { mode: 'dataset', template: 'otel_{tenant}' } },
  'a table': { boundary: { mode: 'table_template', template: '{tenant}_{table}' } },
  'a connection': { boundary: { mode: 'connection' } },
} as const;

type TenancyName = keyof typeof tenancies;
const tenancyNames: readonly TenancyName[] = [
  'none',
  'a column',
  'a column of integers',
  'a resource attribute',
  'an attribute',
  'an expression',
  'a dataset',
  'a table',
  'a connection',
];

const mappings = {
  'otel-collector': { preset: 'otel-collector' },
  'otel-collector-nested': { preset: 'otel-collector', names: { keys: 'nested' } },
  'google-cloud': { preset: 'google-cloud' },
} as const;

const everything: ReadRules['tables'][TableName] = {
  columns: new Map([
    ['status_message', 'deny'],
    ['scope_version', 'mask'],
    ['service_version', 'hash'],
    ['duration_nano', 'mask'],
  ]),
  attributes: [
    { key: 'user.id', prefix: false, action: 'hash' },
    { key: 'user.', prefix: true, action: 'deny' },
    { key: 'db.statement', prefix: false, action: 'mask' },
  ],
};
const rules: ReadRules = {
  key: 'k',
  salt: '0123456789abcdef0123456789abcdef',
  tables: { spans: everything, metrics: everything, logs: everything },
};

/** Under `preset` and `tenancy`, what each table stands for. */
async function relations(
  mapping: keyof typeof mappings,
  tenancy: TenancyName,
  bindings: readonly StatementBinding[],
): Promise<readonly { readonly table: TableName; readonly sql: string }[]> {
  const harness = await Harness.create((keyFilename) => ({
    mapping: mappings[mapping],
    tenancy: tenancies[tenancy],
    isolation: 'degraded',
    ...(tenancy === 'a connection' && { boundary: 'connection', connections: { acme: { keyFilename } } }),
  }));
  for (const [name, table] of Object.entries({ ...collectorTables, ...googleCloudTables })) {
    for (const dataset of ['otel', 'otel_acme', 'trace', 'logs']) {
      harness.server.tables.set(`acme-observability.${dataset}.${name}`, table);
      harness.server.tables.set(`acme-observability.${dataset}.acme_${name}`, table);
    }
  }
  try {
    await harness.telemetry.start(AbortSignal.timeout(10_000));
    const context = contextOf(acme);
    const found: { table: TableName; sql: string }[] = [];
    for (const table of tableNames) {
      // Google keeps no metrics there.
      if (mapping === 'google-cloud' && table === 'metrics') continue;
      const checked = harness.telemetry.check(await harness.telemetry.parse(`SELECT * FROM otel.${table}`, context));
      for (const binding of bindings) {
        found.push({ table, sql: await harness.telemetry.render(checked, binding, context) });
      }
    }
    return found;
  } finally {
    await harness.stop();
  }
}

/** A column or predicate a line. */
function readable(sql: string): string {
  return sql
    .replace(/( AS `\w+`), (?=[\w`'([])/g, '$1,\n  ')
    .replace(/ (?=FROM `)/g, '\n')
    .replace(/ (?=WHERE )/g, '\n')
    .replace(/ (?=AND \()/g, '\n  ')
    .replace(/ (?=FROM \(|FROM UNNEST)/g, '\n    ');
}

/** From the physical table on. */
function filterOf(sql: string): string {
  const at = Math.max(sql.lastIndexOf('FROM `'), 0);
  return readable(sql.slice(at));
}

async function filters(mapping: keyof typeof mappings, names: readonly TenancyName[]): Promise<string> {
  const parts: string[] = [];
  for (const tenancy of names) {
    const bindings = Object.values(windows).map((window) => ({ window }));
    for (const [at, { table, sql }] of (await relations(mapping, tenancy, bindings)).entries()) {
      const window = Object.keys(windows)[at % bindings.length] ?? '';
      parts.push(`-- otel.${table}, tenants by ${tenancy}, window ${window}\n${filterOf(sql)};\n`);
    }
  }
  return parts.join('\n');
}

/** UPDATE_GOLDEN=1 writes what there is now; the difference is for a reader to judge. */
async function expectGolden(name: string, text: string): Promise<void> {
  const path = new URL(`golden/${name}.sql`, import.meta.url);
  if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(path, text);
  expect(text).toBe(await readFile(path, 'utf8'));
}

describe.each(['otel-collector', 'google-cloud'] as const)('SQL over %s', (mapping) => {
  it('has every column, and shows nothing of a row before it is known whose it is', async () => {
    const found = await relations(mapping, 'a column', [{ window: windows.both }]);
    const text = found.map(({ table, sql }) => `-- otel.${table}\n${readable(sql)};\n`).join('\n');
    await expectGolden(`${mapping}-columns`, text);
  });

  it('keeps tenants apart beneath every window, in every way there is', async () => {
    await expectGolden(`${mapping}-filters`, await filters(mapping, tenancyNames));
  });

  it('binds what a caller may not read', async () => {
    const found = await relations(mapping, 'none', [{ rules }]);
    const text = found.map(({ table, sql }) => `-- otel.${table}\n${readable(sql)};\n`).join('\n');
    await expectGolden(`${mapping}-rules`, text);
    expect(text).not.toMatch(/AS `status_message`/);
  });
});

it('finds a tenant’s attribute where dots were taken for nesting', async () => {
  const text = await filters('otel-collector-nested', ['a resource attribute', 'an attribute']);
  await expectGolden('otel-collector-nested-filters', text);
});
