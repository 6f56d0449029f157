import type { MappingPreset, PhysicalColumns } from '../../../src/contract/telemetry/index.ts';
import { tablePath } from '../quote.ts';
import type { Columns } from './columns.ts';
import { logsSource, metricsSource, spansSource } from './signoz-sources.ts';

/** SigNoz: traces v3, logs v2, metrics v4. Its distributed tables are read, or the local ones where there are no others. */
export const signoz: MappingPreset = {
  name: 'signoz',
  title: 'SigNoz',
  names: {
    traces_database: 'signoz_traces',
    logs_database: 'signoz_logs',
    metrics_database: 'signoz_metrics',
    traces: 'distributed_signoz_index_v3',
    logs: 'distributed_logs_v2',
    samples: 'distributed_samples_v4',
    series: 'distributed_time_series_v4',
  },
  async sources(names, columns) {
    const traces = await find(columns, names['traces_database'], names['traces']);
    const logs = await find(columns, names['logs_database'], names['logs']);
    const samples = await find(columns, names['metrics_database'], names['samples']);
    const series = await find(columns, names['metrics_database'], names['series']);
    return {
      ...(traces === undefined ? {} : { spans: [spansSource(traces.from, traces.columns)] }),
      ...(logs === undefined ? {} : { logs: [logsSource(logs.from, logs.columns)] }),
      ...(samples === undefined || series === undefined
        ? {}
        : { metrics: [metricsSource(samples.from, series.from, series.columns)] }),
    };
  },
};

async function find(
  columns: PhysicalColumns,
  database: string | undefined,
  table: string | undefined,
): Promise<{ readonly from: string; readonly columns: Columns } | undefined> {
  for (const name of [table ?? '', (table ?? '').replace(/^distributed_/, '')]) {
    const there = await columns(`${database}.${name}`);
    if (there !== undefined) return { from: tablePath(`${database}.${name}`), columns: there };
  }
  return undefined;
}
