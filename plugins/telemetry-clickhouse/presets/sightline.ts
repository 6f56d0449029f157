import { otelTables, tableNames, type MappingPreset, type TableSource } from '../../../src/contract/telemetry/index.ts';
import { tablePath } from '../quote.ts';

/** Tables of our own, as `sightline telemetry setup` prints them: the logical columns by their names. */
export const sightline: MappingPreset = {
  name: 'sightline',
  title: "Sightline's own tables",
  names: { database: 'sightline', spans: 'sightline_spans', metrics: 'sightline_metrics', logs: 'sightline_logs' },
  async sources(names, columns) {
    const found: { [Name in (typeof tableNames)[number]]?: readonly TableSource[] } = {};
    for (const table of tableNames) {
      const path = `${names['database']}.${names[table]}`;
      const there = await columns(path);
      if (there === undefined) continue;
      const known = otelTables[table].columns.filter(({ name }) => there.has(name));
      const columnsOf = Object.fromEntries(known.map(({ name }) => [name, name]));
      const end = table === 'spans' ? { end_time: 'addNanoseconds(time, duration_nano)' } : {};
      found[table] = [{ from: tablePath(path), columns: { ...columnsOf, ...end } }];
    }
    return found;
  },
};
