import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dataset } from '@google-cloud/bigquery';
import type { TableName } from '../../../src/contract/telemetry/index.ts';
import type { Row } from '../../contract/telemetry-rows.ts';
import { collectorTables } from './layouts.ts';
import type { Field } from './server.ts';

const physical = { spans: 'trace', metrics: 'metric', logs: 'log' } as const satisfies Record<TableName, string>;

/** A dataset of its own in a real project, with the Collector's tables and a column that tells tenants apart. */
export class ProjectDataset {
  readonly name: string;
  readonly #dataset: Dataset;

  private constructor(name: string, dataset: Dataset) {
    this.name = name;
    this.#dataset = dataset;
  }

  static async create(projectId: string, location: string): Promise<ProjectDataset> {
    const { BigQuery } = await import('@google-cloud/bigquery');
    const name = `sightline_test_${randomBytes(6).toString('hex')}`;
    const hourMs = String(3_600_000);
    const [dataset] = await new BigQuery({ projectId }).createDataset(name, {
      location,
      defaultTableExpirationMs: hourMs,
    });
    const tenant = { name: 'tenant_id', type: 'STRING' };
    for (const [table, { fields }] of Object.entries(collectorTables)) {
      // Not partitioned by arrival: what the suites write is months old.
      await dataset.createTable(table, { schema: { fields: [...fields.map(copied), tenant] } });
    }
    return new ProjectDataset(name, dataset);
  }

  /** By a load job: done when it is, and found by the next query. */
  async write(tenant: string, table: TableName, rows: readonly Row[]): Promise<void> {
    const directory = await mkdtemp(join(tmpdir(), 'sl-bigquery-rows-'));
    try {
      const file = join(directory, 'rows.ndjson');
      await writeFile(file, rows.map((row) => JSON.stringify(physicalRow(tenant, table, row))).join('\n'));
      await this.#dataset.table(physical[table]).load(file, { sourceFormat: 'NEWLINE_DELIMITED_JSON' });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  async remove(): Promise<void> {
    await this.#dataset.delete({ force: true });
  }
}

interface MutableField {
  name: string;
  type: string;
  mode?: string;
  fields?: MutableField[];
}

/** As the client wants it, which might write to it. */
function copied({ name, type, mode = 'NULLABLE', fields = [] }: Field): MutableField {
  return { name, type, mode, fields: fields.map(copied) };
}

function physicalRow(tenant: string, table: TableName, row: Row): object {
  const common = {
    tenant_id: tenant,
    resource_attributes: { ...resourceOf(row), ...objectOf(row['resource_attributes']) },
    instrumentation_scope: { name: row['scope_name'], version: row['scope_version'] },
    flags: row['flags'],
  };
  switch (table) {
    case 'spans': {
      const { trace_id, span_id, parent_span_id, trace_state, name, kind, start_time, end_time } = row;
      const { status_code, status_message, events, links, attributes } = row;
      const own = { trace_id, span_id, parent_span_id, trace_state, name, kind, start_time, end_time };
      return { ...common, ...own, status_code, status_message, events, links, span_attributes: attributes };
    }
    case 'metrics': {
      const { name, description, unit, type, aggregation_temporality, is_monotonic, time, start_time, value } = row;
      const { count, sum, min, max, bucket_counts, explicit_bounds, quantile_values, attributes } = row;
      return {
        ...common,
        metric_name: name,
        metric_description: description,
        metric_unit: unit,
        metric_type: String(type).toUpperCase(),
        aggregation_temporality: upper(aggregation_temporality),
        is_monotonic,
        datapoint_timestamp: time,
        start_timestamp: start_time,
        value_double: value,
        count,
        sum,
        min,
        max,
        bucket_counts,
        explicit_bounds,
        quantiles: quantile_values,
        datapoint_attributes: attributes,
      };
    }
    case 'logs': {
      const { observed_time, time, trace_id, span_id, severity_number, severity_text, body, attributes } = row;
      const own = { trace_id, span_id, severity_number, severity_text, body, log_attributes: attributes };
      return { ...common, ...own, observed_timestamp: observed_time, log_timestamp: time };
    }
  }
}

/** Columns of ours that are attributes of the resource there. */
function resourceOf(row: Row): Readonly<Record<string, unknown>> {
  const keys = {
    'service.name': row['service_name'],
    'service.version': row['service_version'],
    'deployment.environment.name': row['deployment_environment'],
  };
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined));
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function upper(value: unknown): string | undefined {
  return typeof value === 'string' ? value.toUpperCase() : undefined;
}
