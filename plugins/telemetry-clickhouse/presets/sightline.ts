import {
  ownColumnsOf,
  sourcesOf,
  tableNames,
  type MappingPreset,
  type TableName,
  type TableSource,
} from '../../../src/contract/telemetry/index.ts';
import { tablePath } from '../quote.ts';

/** Tables of our own, as `sightline telemetry setup` prints them: the logical columns by their names. */
export const sightline: MappingPreset = {
  name: 'sightline',
  title: "Sightline's own tables",
  names: { database: 'sightline', spans: 'sightline_spans', metrics: 'sightline_metrics', logs: 'sightline_logs' },
  async sources(names, columns) {
    const found: { [Name in TableName]?: TableSource } = {};
    for (const table of tableNames) {
      const path = `${names['database']}.${names[table]}`;
      const there = await columns(path);
      if (there === undefined) continue;
      const end = table === 'spans' ? { end_time: 'addNanoseconds(time, duration_nano)' } : {};
      found[table] = { from: tablePath(path), columns: { ...ownColumnsOf(table, there), ...end } };
    }
    return sourcesOf(found);
  },
};
