import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ask } from '../../test/contract/telemetry/warehouse.ts';
import { rejection } from '../../test/contract/runner.ts';
import { collectorTables } from '../../test/support/bigquery/layouts.ts';
import { at } from '../../test/support/bigquery/server.ts';
import plugin from './index.ts';
import { tenantPredicate } from './tenant.ts';
import { relationWriter } from './writer.ts';
import { acme, globex, Harness, usual, type HarnessConfig } from './support/harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});
const start = async (config: HarnessConfig) => {
  harness = await Harness.start(config);
  return harness;
};
const sent = (made: Harness) => made.server.inserted().map((job) => String(at(job, 'configuration', 'query', 'query')));

describe('a boundary of BigQuery’s own', () => {
  it('of SECURE_CONTEXT has the tenant in every request, beside the predicate', async () => {
    const made = await start({ boundary: 'secure_context', secureContextKey: 'org' });
    await ask(made.telemetry, acme, 'SELECT name FROM otel.spans');
    await ask(made.telemetry, globex, 'SELECT name FROM otel.spans');
    const contexts = made.server.inserted().map((job) => at(job, 'configuration', 'query', 'secureContext'));
    expect(contexts).toEqual([
      { secureParameterEntries: { org: 'acme' } },
      { secureParameterEntries: { org: 'globex' } },
    ]);
    expect(sent(made)[0]).toContain("WHERE (`trace`.`tenant_id` = 'acme')");
    // The dry run sees what the job will.
    for (const dry of made.server.inserted(true)) {
      expect(at(dry, 'configuration', 'query', 'secureContext')).toBeDefined();
    }
  });

  it('of datasets reads its own, and is refused when BigQuery says it reads another’s', async () => {
    harness = await Harness.create({
      boundary: 'views',
      mapping: { preset: 'otel-collector' },
      tenancy: { boundary: { mode: 'dataset', template: 'acme-observability.otel_{tenant}' } },
    });
    for (const [name, table] of Object.entries(collectorTables)) {
      for (const tenant of ['acme', 'globex'])
        harness.server.tables.set(`acme-observability.otel_${tenant}.${name}`, table);
    }
    await harness.telemetry.start(AbortSignal.timeout(10_000));
    await ask(harness.telemetry, acme, 'SELECT name FROM otel.spans');
    expect(sent(harness)[0]).toContain('FROM `acme-observability.otel_acme.trace`');
    expect(sent(harness)[0]).not.toContain('globex');
    // Whatever passed the gate.
    harness.server.script('body', { tables: ['acme-observability.otel_globex.log'] });
    expect(await rejection(ask(harness.telemetry, acme, 'SELECT body FROM otel.logs'))).toMatchObject({
      code: 'sql_refused',
    });
  });

  it('of connections has an identity for each, and none for who has none', async () => {
    const made = await start((keyFilename) => ({
      boundary: 'connection',
      tenancy: { boundary: { mode: 'connection' } },
      connections: { acme: { keyFilename, projectId: 'acme-only' } },
      mapping: usual.mapping,
    }));
    await ask(made.telemetry, acme, 'SELECT name FROM otel.spans');
    expect(at(made.server.inserted()[0], 'jobReference', 'projectId')).toBe('acme-only');
    expect(await rejection(ask(made.telemetry, globex, 'SELECT name FROM otel.spans'))).toMatchObject({
      code: 'forbidden',
      operatorMessage: expect.stringContaining('telemetry.connections'),
      message: expect.not.stringContaining('connections'),
    });
  });

  it('of connections reads a credential file with no word on standard error, and quotes none that it cannot', async () => {
    const warn = jest.spyOn(console, 'warn');
    const directory = await mkdtemp(join(tmpdir(), 'sl-credentials-'));
    const broken = join(directory, 'broken.json');
    await writeFile(broken, 'private_key: MIIE');
    const made = await start((keyFilename) => ({
      boundary: 'connection',
      tenancy: { boundary: { mode: 'connection' } },
      connections: { acme: { keyFilename }, globex: { keyFilename: broken } },
      mapping: usual.mapping,
    }));
    await ask(made.telemetry, acme, 'SELECT name FROM otel.spans');
    const failed = await rejection(ask(made.telemetry, globex, 'SELECT name FROM otel.spans'));
    expect(failed).toMatchObject({ code: 'telemetry_unavailable' });
    expect(inspect(failed, { depth: 10 })).not.toContain('MIIE');
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
    await rm(directory, { recursive: true });
  });

  it('that is only the predicate shows nothing of a row before it is known whose it is', async () => {
    const made = await start({ isolation: 'degraded' });
    await ask(made.telemetry, acme, 'SELECT body FROM otel.logs WHERE CAST(body AS INT64) > 0');
    expect(sent(made)[0]).toContain("IF((`log`.`tenant_id` = 'acme'), IFNULL(body, ''), NULL) AS `body`");
  });

  it('does not start over a table without the tenant’s column, which would be found in the caller’s SQL', async () => {
    harness = await Harness.create();
    const message = 'Name tenant_id not found inside log at [1:9]';
    harness.server.script('`log`.`tenant_id`', { dryRunError: { status: 400, reason: 'invalidQuery', message } });
    await expect(harness.telemetry.start(AbortSignal.timeout(10_000))).rejects.toMatchObject({
      code: 'config_invalid',
      message: 'telemetry.mapping does not fit the warehouse: otel.logs.',
      operatorMessage: expect.stringContaining(message),
    });
  });

  it.each([
    ['`p-1.d.log`', '`log`.`org`'],
    ['d.log', '`log`.`org`'],
    ['`p.d.log` AS l', '`l`.`org`'],
    ['(SELECT * FROM d.log) AS rows_of', '`rows_of`.`org`'],
    ['d.log AS l JOIN d.tenant AS t ON t.id = l.id', '`org`'],
  ])('names the tenant’s column by what the rows of %s are called', (from, column) => {
    const writer = relationWriter({ guarded: false });
    const boundary = { mode: 'column', column: 'org', type: 'string' } as const;
    const mapping = { preset: undefined, tables: {}, empties: [] };
    const predicate = tenantPredicate({ boundary, mapping, style: 'flat', value: "'a'" }, 'logs');
    expect(writer.select?.([['time', 't']], from, predicate, [])).toBe(
      `SELECT t AS \`time\` FROM ${from} WHERE (${column} = 'a')`,
    );
  });

  it('writes a tenant that reads like SQL as text', async () => {
    const tenant = "a' OR TRUE OR 'b\\";
    const made = await start({
      tenancy: { boundary: { mode: 'column', column: 'tenant_id' }, organizations: { acme: tenant } },
    });
    await ask(made.telemetry, acme, 'SELECT name FROM otel.spans');
    expect(sent(made)[0]).toContain(String.raw`WHERE (${'`trace`.`tenant_id`'} = 'a\' OR TRUE OR \'b\\')`);
  });
});

describe('the config', () => {
  const parse = (config: object) => plugin.configSchema.safeParse({ ...usual, ...config });
  const problem = (config: object) => {
    const { success, error } = parse(config);
    return success ? 'none' : error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  };

  it('is strict', () => {
    expect(problem({})).toBe('none');
    expect(problem({ projct: 'x' })).toContain('projct');
    expect(problem({ projectId: 'a b' })).toContain('projectId');
    expect(problem({ labels: { Team: 'x' } })).toContain('labels');
    expect(problem({ maxBytesBilled: 1 })).toContain('maxBytesBilled');
  });

  it.each<[string, object, string]>([
    [
      'a database, which BigQuery has not',
      { tenancy: { boundary: { mode: 'database', template: '{tenant}' } } },
      'dataset',
    ],
    [
      'connections without any',
      { tenancy: { boundary: { mode: 'connection' } }, boundary: 'connection' },
      'connections',
    ],
    ['connections in name only', { tenancy: { boundary: { mode: 'connection' } } }, 'boundary'],
    ['views that no name tells apart', { boundary: 'views' }, 'boundary'],
  ])('refuses %s', (_what, config, key) => {
    expect(problem(config)).toContain(key);
  });

  it.each<[string, object]>([
    ['a preset’s dataset', { mapping: { preset: 'otel-collector', names: { dataset: 'otel' } } }],
    ['a table', { mapping: { tables: { logs: { from: '`p.d.logs`', columns: { time: 't' } } } } }],
  ])('refuses %s that is the same for every tenant where names tell them apart', async (_what, config) => {
    const tenancy = { boundary: { mode: 'dataset', template: 'otel_{tenant}' } };
    expect(await rejection(Harness.create({ ...config, tenancy }))).toMatchObject({
      code: 'config_invalid',
      hint: expect.stringContaining('{tenant}'),
    });
  });

  it('maps tables of its own, and says of one that is not there that it is not', async () => {
    const made = await start({
      mapping: {
        tables: {
          logs: {
            from: '`acme-observability.apps.events`',
            columns: { time: 'ts', body: 'message', service_name: 'app', attributes: 'labels' },
            timeBounds: ['day >= DATE({start})'],
          },
        },
      },
    });
    expect(made.telemetry.dialect.tables.map(({ name }) => name)).toEqual(['logs']);
    const window = { start: new Date('2026-03-01T00:00:00Z') };
    await ask(made.telemetry, acme, 'SELECT body FROM otel.logs', { window });
    expect(sent(made)[0]).toContain("AND (day >= DATE(TIMESTAMP '2026-03-01 00:00:00.000+00'))");
    expect(await rejection(ask(made.telemetry, acme, 'SELECT name FROM otel.spans'))).toMatchObject({
      code: 'unknown_table',
    });
  });

  it('stops the boot with the key where nothing of the preset is there', async () => {
    const error = await rejection(
      Harness.start({ mapping: { preset: 'otel-collector', names: { dataset: 'nothing' } } }),
    );
    expect(error).toMatchObject({ code: 'config_invalid', message: expect.stringContaining('otel-collector') });
  });
});
