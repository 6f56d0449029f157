import type { MappingPreset, TableSource } from '../../../src/contract/telemetry/index.ts';
import { tablePath } from '../quote.ts';
import { metricsSource } from './exporter-metrics.ts';
import type { MetricType } from './exporter-metrics.ts';
import { logsSource, spansSource } from './exporter-spans-logs.ts';

const metricTables = [
  ['metrics_gauge', 'gauge'],
  ['metrics_sum', 'sum'],
  ['metrics_histogram', 'histogram'],
  ['metrics_exponential_histogram', 'exponential_histogram'],
  ['metrics_summary', 'summary'],
] as const satisfies readonly (readonly [string, MetricType])[];

/** The exporter's table of exponential histograms changed its name. */
const otherNames: Readonly<Record<string, string>> = {
  otel_metrics_exponential_histogram: 'otel_metrics_exp_histogram',
};

/** A preset for the tables of the Collector's exporter, whoever created them. */
export function exporterPreset(name: string, title: string, database: string): MappingPreset {
  return {
    name,
    title,
    names: {
      database,
      traces: 'otel_traces',
      logs: 'otel_logs',
      ...Object.fromEntries(metricTables.map(([key, type]) => [key, `otel_metrics_${type}`])),
    },
    async sources(names, columns) {
      const find = async (key: string) => {
        const usual = names[key] ?? '';
        for (const table of [usual, ...(otherNames[usual] === undefined ? [] : [otherNames[usual]])]) {
          const there = await columns(`${names['database']}.${table}`);
          if (there !== undefined) return { from: tablePath(`${names['database']}.${table}`), columns: there };
        }
        return undefined;
      };
      const traces = await find('traces');
      const logs = await find('logs');
      const metrics: TableSource[] = [];
      for (const [key, type] of metricTables) {
        const table = await find(key);
        if (table !== undefined) metrics.push(metricsSource(type, table.from, table.columns));
      }
      return {
        ...(traces === undefined ? {} : { spans: [spansSource(traces.from, traces.columns)] }),
        ...(logs === undefined ? {} : { logs: [logsSource(logs.from, logs.columns)] }),
        ...(metrics.length === 0 ? {} : { metrics }),
      };
    },
  };
}
