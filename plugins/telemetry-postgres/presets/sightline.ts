import {
  otelTables,
  tableNames,
  type MappingPreset,
  type TableName,
  type TableSource,
} from '../../../src/contract/telemetry/index.ts';
import { quoteName } from '../literals.ts';

/** Tables of our own making (setup/tables.ts): the logical columns by their names, beside the tenant's. */
export const sightlinePreset: MappingPreset = {
  name: 'sightline',
  title: "Sightline's own tables",
  names: { schema: 'telemetry', spans: 'spans', metrics: 'metrics', logs: 'logs' },
  async sources(names, physical) {
    const sources: { [Name in TableName]?: readonly TableSource[] } = {};
    for (const table of tableNames) {
      const found = await physical(`${names['schema']}.${names[table]}`);
      if (found === undefined) continue;
      const columns = otelTables[table].columns.filter(({ name }) => found.has(name));
      sources[table] = [
        {
          from: `${quoteName(names['schema'] ?? '')}.${quoteName(names[table] ?? '')}`,
          columns: Object.fromEntries(columns.map(({ name }) => [name, quoteName(name)])),
        },
      ];
    }
    return sources;
  },
};
