import { afterEach, describe, expect, it } from '@jest/globals';
import { mappingSchema, type Finding } from '../../../src/contract/telemetry/index.ts';
import { collectorTables, googleCloudTables, sinkTables } from '../../../test/support/bigquery/layouts.ts';
import { at } from '../../../test/support/bigquery/server.ts';
import { Harness, type HarnessConfig } from '../support/harness.ts';

const denied = { status: 403, reason: 'accessDenied', message: 'Access Denied' };
const signal = () => AbortSignal.timeout(10_000);

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

const make = async (config: HarnessConfig = {}) => {
  harness = await Harness.create(config);
  return harness;
};
const probe = async (config: HarnessConfig, prepare: (made: Harness) => void = () => {}) => {
  const made = await make(config);
  // As a service account has it that may run jobs and read: everything else is denied.
  made.server.script((sql) => !sql.startsWith('SELECT') || sql.includes('INFORMATION_SCHEMA'), { dryRunError: denied });
  prepare(made);
  return (await made.telemetry.operations?.probe(signal())) ?? [];
};
const statusOf = (findings: readonly Finding[], check: string) =>
  findings.find((found) => found.check === check)?.status;

const one = { tenancy: { boundary: { mode: 'none', organization: 'acme' } }, isolation: 'layered' };
const secure = { boundary: 'secure_context', isolation: 'layered' };
const apart = {
  boundary: 'views',
  isolation: 'layered',
  mapping: { preset: 'otel-collector' },
  tenancy: {
    boundary: { mode: 'dataset', template: 'otel_{tenant}' },
    organizations: { acme: 'acme', globex: 'globex' },
  },
};
const datasets = ({ server }: Harness) => {
  for (const [name, table] of Object.entries(collectorTables)) {
    for (const dataset of ['otel_acme', 'otel_globex'])
      server.tables.set(`acme-observability.${dataset}.${name}`, table);
  }
};

describe('the probe', () => {
  it('finds nothing to say of a warehouse of one organization that can only be read', async () => {
    const findings = await probe(one);
    expect(findings.filter(({ status }) => status !== 'ok')).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual([
      'warehouse',
      'boundary',
      'telemetry tables',
      'writes',
      'jobs of others',
    ]);
  });

  it('runs nothing: all it sends are dry runs', async () => {
    const findings = await probe(one);
    expect(findings.length).toBeGreaterThan(0);
    expect(harness?.server.inserted()).toEqual([]);
    expect(harness?.server.inserted(true).length).toBeGreaterThan(8);
  });

  it.each(['DELETE', 'TRUNCATE', 'DROP TABLE', 'CREATE TABLE', 'CREATE FUNCTION', 'EXPORT DATA'])(
    'fails where %s would be let through',
    async (statement) => {
      const findings = await probe(one, ({ server }) => server.script((sql) => sql.startsWith(statement), {}));
      expect(findings.find(({ check }) => check === 'writes')).toMatchObject({
        status: 'fail',
        detail: expect.stringContaining(statement),
      });
    },
  );

  it('fails where the jobs of others can be read', async () => {
    const findings = await probe(one, ({ server }) => server.script('.INFORMATION_SCHEMA.JOBS', {}));
    expect(statusOf(findings, 'jobs of others')).toBe('fail');
  });

  it('fails when nothing is known, since BigQuery does not answer', async () => {
    const down = { status: 503, reason: 'backendError', message: 'down' };
    const findings = await probe(one, ({ server }) => server.script('DROP TABLE', { dryRunError: down }));
    expect(statusOf(findings, 'writes')).toBe('fail');
  });

  it('fails on a boundary of one layer, unless the config names it', async () => {
    expect(statusOf(await probe({ isolation: 'layered' }), 'boundary')).toBe('fail');
    await harness?.stop();
    expect(statusOf(await probe({ isolation: 'degraded' }), 'boundary')).toBe('warn');
  });

  it('fails where the telemetry cannot be read', async () => {
    const findings = await probe(one, ({ server }) => server.script('SELECT 1 FROM (', { dryRunError: denied }));
    expect(findings.at(-1)).toMatchObject({ check: 'telemetry tables', status: 'fail' });
  });

  describe('of views over SECURE_CONTEXT', () => {
    const bases = ['acme-observability.raw.trace'];
    const behind = ({ server }: Harness) => {
      server.script('SELECT 1 FROM (', { tables: [...bases, 'acme-observability.otel.trace'] });
      server.script('FROM `acme-observability.raw.trace`', { dryRunError: denied });
    };

    it('is content when the tables behind are hidden and a stranger sees nothing', async () => {
      const findings = await probe(secure, behind);
      expect([statusOf(findings, 'tables behind views'), statusOf(findings, 'secure context')]).toEqual(['ok', 'ok']);
      const jobs = harness?.server.inserted() ?? [];
      expect(jobs).toHaveLength(3);
      for (const job of jobs) {
        expect(at(job, 'configuration', 'query', 'secureContext', 'secureParameterEntries')).toMatchObject({
          sightline_tenant: expect.any(String),
        });
      }
    });

    it('fails where a table behind can be read', async () => {
      const findings = await probe(secure, (made) => {
        behind(made);
        made.server.script('FROM `acme-observability.raw.trace`', {});
      });
      expect(statusOf(findings, 'tables behind views')).toBe('fail');
    });

    it('fails where what is read are no views', async () => {
      const tables = ['trace', 'metric', 'log'].map((name) => `acme-observability.otel.${name}`);
      const findings = await probe(secure, ({ server }) => server.script('SELECT 1 FROM (', { tables }));
      expect(statusOf(findings, 'tables behind views')).toBe('fail');
    });

    it('fails where a tenant that is not there sees rows', async () => {
      const findings = await probe(secure, (made) => {
        behind(made);
        const fields = [{ name: 'f0_', type: 'INTEGER' }];
        made.server.script((sql) => sql.includes('LIMIT 1') && sql.includes('otel.log'), { fields, rows: [['1']] });
      });
      expect(findings.find(({ check }) => check === 'secure context')).toMatchObject({
        status: 'fail',
        detail: expect.stringContaining('otel.log'),
      });
    });
  });

  it('tells whether two organizations read different tables', async () => {
    expect(statusOf(await probe(apart, datasets), 'organizations apart')).toBe('ok');
    await harness?.stop();
    const findings = await probe(apart, (made) => {
      datasets(made);
      made.server.script('SELECT 1 FROM (', { tables: ['acme-observability.raw.trace'] });
    });
    expect(statusOf(findings, 'organizations apart')).toBe('fail');
  });

  it('fails where one organization’s account can read another’s table', async () => {
    const connections = (keyFilename: string) => ({
      ...apart,
      boundary: 'connection',
      connections: { acme: { keyFilename }, globex: { keyFilename } },
    });
    expect(statusOf(await probe(connections, datasets), 'organizations apart')).toBe('fail');
    await harness?.stop();
    const findings = await probe(connections, (made) => {
      datasets(made);
      made.server.script((sql) => sql.startsWith('SELECT 1 FROM `acme-observability.otel_globex'), {
        dryRunError: denied,
      });
    });
    expect(statusOf(findings, 'organizations apart')).toBe('ok');
  });

  it('carries no word of BigQuery’s own, but its reason', async () => {
    const secret = { status: 403, reason: 'accessDenied', message: 'Access Denied: secret-detail' };
    const findings = await probe(one, ({ server }) => server.script('SELECT 1 FROM (', { dryRunError: secret }));
    expect(JSON.stringify(findings)).not.toContain('secret-detail');
    expect(JSON.stringify(findings)).toContain('accessDenied');
  });
});

describe('the inspection', () => {
  it('finds each preset where it is, with what is missing', async () => {
    const made = await make({ datasets: ['prod_telemetry', 'cloud_trace', 'cloud_logs'] });
    made.server.tables.clear();
    for (const [name, table] of Object.entries(collectorTables)) {
      made.server.tables.set(`acme-observability.prod_telemetry.${name}`, table);
    }
    made.server.tables.set('acme-observability.cloud_trace._AllSpans', googleCloudTables._AllSpans);
    made.server.tables.set('acme-observability.cloud_logs._AllLogs', googleCloudTables._AllLogs);
    const { candidates, server } = (await made.telemetry.operations?.inspect(signal())) ?? {
      candidates: [],
      server: '',
    };
    expect(server).toContain('acme-observability');
    expect(candidates.map(({ preset }) => preset)).toEqual(['otel-collector', 'google-cloud']);
    expect(candidates[0]).toMatchObject({
      mapping: { preset: 'otel-collector', names: { dataset: 'prod_telemetry' } },
      found: { spans: 'prod_telemetry.trace', metrics: 'prod_telemetry.metric', logs: 'prod_telemetry.log' },
    });
    expect(candidates[0]?.missing).toContainEqual({ what: 'otel.metrics.scale', instead: 'NULL' });
    expect(candidates[1]).toMatchObject({
      mapping: { names: { trace_dataset: 'cloud_trace', log_dataset: 'cloud_logs' } },
      found: { spans: 'cloud_trace._AllSpans', logs: 'cloud_logs._AllLogs' },
    });
    expect(candidates[1]?.missing[0]?.what).toBe('otel.metrics');
    for (const { mapping } of candidates) mappingSchema.parse(mapping);
  });

  it('finds out how the dots of keys were taken', async () => {
    const made = await make({ datasets: ['otel'] });
    made.server.script('COUNTIF', { fields: [{ name: 'f0_', type: 'BOOLEAN' }], rows: [['true']] });
    const { candidates = [] } = (await made.telemetry.operations?.inspect(signal())) ?? {};
    expect(candidates[0]?.mapping).toMatchObject({ names: { keys: 'nested' } });
  });

  it('maps by hand what sinks of Cloud Logging and Cloud Trace wrote, and names what does not fit', async () => {
    const made = await make({ datasets: ['logs', 'traces', 'absent'] });
    made.server.tables.clear();
    for (let day = 1; day <= 28; day += 1) {
      made.server.tables.set(`acme-observability.logs.stdout_202611${String(day).padStart(2, '0')}`, sinkTables.logs);
    }
    made.server.tables.set('acme-observability.logs.invoices', { fields: [{ name: 'id', type: 'INTEGER' }] });
    made.server.tables.set('acme-observability.traces.cloud_trace', sinkTables.spans);
    const { candidates = [] } = (await made.telemetry.operations?.inspect(signal())) ?? {};
    expect(candidates).toHaveLength(1);
    const [found] = candidates;
    expect(found).toMatchObject({
      preset: 'by hand',
      title: expect.stringMatching(/Cloud Trace in traces\.cloud_trace.*Cloud Logging in logs\.stdout$/),
      found: { spans: 'traces.cloud_trace', logs: 'logs.stdout' },
    });
    const { tables } = mappingSchema.parse(found?.mapping);
    expect(tables).toMatchObject({
      metrics: false,
      spans: {
        from: '`traces.cloud_trace`',
        columns: {
          time: 'span.startTime',
          trace_id: "IFNULL(REGEXP_EXTRACT(span.name, r'traces/([0-9a-f]+)'), '')",
          name: "IFNULL(span.displayName.value, '')",
        },
        timeBounds: [expect.stringContaining('_PARTITIONTIME'), expect.stringContaining('_PARTITIONTIME')],
      },
      logs: {
        columns: {
          time: '`timestamp`',
          body: "COALESCE(textPayload, IF(jsonPayload IS NULL, NULL, TO_JSON_STRING(jsonPayload)), '')",
          service_name: "COALESCE(resource.labels.container_name, '')",
          attributes: "IFNULL(TO_JSON(labels), JSON '{}')",
        },
      },
    });
    const notes = found?.notes ?? [];
    expect(notes).toContainEqual({
      what: 'otel.logs',
      found: expect.stringMatching(/^28 daily tables \(stdout_20261128\).*partitioned table, logs\.stdout$/),
    });
    expect(notes.map(({ what }) => what)).toEqual(
      expect.arrayContaining(['otel.spans.service_name', 'otel.spans.attributes', 'otel.logs.attributes']),
    );
    expect(JSON.stringify(candidates)).not.toContain('invoices');
  });

  it('finds nothing where there is nothing', async () => {
    const made = await make();
    made.server.tables.clear();
    expect((await made.telemetry.operations?.inspect(signal()))?.candidates).toEqual([]);
  });
});

describe('the setup', () => {
  const scripts = async (config: HarnessConfig) =>
    (await (await make(config)).telemetry.operations?.setup(signal())) ?? [];
  const textOf = (list: readonly { readonly title: string; readonly sql: string }[]) =>
    list.map(({ title, sql }) => `${title}\n${sql}`).join('\n');

  it('writes views over SECURE_CONTEXT, with the arrival that partitions are of', async () => {
    const text = textOf(await scripts(secure));
    expect(text).toContain(
      'CREATE OR REPLACE VIEW `acme-observability.sightline_views.trace` AS\n' +
        'SELECT *, _PARTITIONTIME AS partition_time\nFROM `acme-observability.otel.trace`\n' +
        "WHERE `trace`.`tenant_id` = LAX_STRING(TO_JSON(SECURE_CONTEXT('sightline_tenant')));",
    );
    expect(text.match(/CREATE OR REPLACE VIEW/g)).toHaveLength(3);
    expect(text).toContain('roles/bigquery.dataViewer');
  });

  it('writes a dataset for each organization', async () => {
    const text = textOf(await scripts(apart));
    expect(text).toContain('CREATE SCHEMA IF NOT EXISTS `acme-observability.otel_acme`');
    expect(text).toContain('CREATE SCHEMA IF NOT EXISTS `acme-observability.otel_globex`');
  });

  it('names what each organization’s account needs', async () => {
    const config = (keyFilename: string) => ({
      tenancy: { boundary: { mode: 'connection' } },
      boundary: 'connection',
      connections: { acme: { keyFilename }, globex: { keyFilename } },
    });
    const text = textOf(await scripts(config));
    expect(text).toContain('"acme"');
    expect(text).toContain('"globex"');
    expect(text).toContain('roles/bigquery.jobUser');
  });
});
