import {
  tableNames,
  type ResolvedMapping,
  type SightedTable,
  type TableName,
  type TableSource,
  type ValueHelpers,
  type ValueNote,
  type ValueReader,
} from '../../contract/telemetry/index.ts';
import { bare, has, nearly, signs } from './candidates.ts';
import { columnsLike, type Mapped } from './columns-like.ts';
import { lookAt } from './look.ts';

const mostTables = 40;

export const valueHelpers: ValueHelpers = {
  look: async (mapping, reader, only = tableNames) => {
    const notes: ValueNote[] = [];
    for (const table of only) {
      for (const source of mapping.tables[table] ?? []) notes.push(...(await lookAt(table, source, mapping, reader)));
    }
    return notes.filter(
      ({ what, found }, at) => notes.findIndex((one) => one.what === what && one.found === found) === at,
    );
  },
  propose,
};

async function propose(
  known: Parameters<ValueHelpers['propose']>[0],
  tables: readonly SightedTable[],
  reader: ValueReader,
): ReturnType<ValueHelpers['propose']> {
  const written: Record<string, object> = {};
  const notes: ValueNote[] = [];
  const taken = new Set(
    tableNames.flatMap((name) => (known?.mapping.tables[name] ?? []).map(({ from }) => bare(from))),
  );
  for (const table of tableNames) {
    const sources = known?.mapping.tables[table] ?? [];
    if (known !== undefined && sources.length > 0) {
      const over = await overPreset(table, known.mapping, sources, tables, reader);
      notes.push(...over.notes);
      if (Object.keys(over.columns).length > 0) written[table] = { columns: over.columns };
      continue;
    }
    const free = tables.filter(({ from }) => !taken.has(bare(from)));
    const best = await likest(table, free, reader);
    if (best === undefined) continue;
    taken.add(bare(best.from.from));
    const { from, columns, timeBounds } = best;
    written[table] = { from: from.from, columns, ...(timeBounds.length > 0 && { timeBounds }) };
    notes.push(...best.notes);
  }
  for (const table of tableNames) {
    if (table in written || known?.mapping.tables[table] !== undefined) continue;
    notes.push(
      ...nearly(
        table,
        tables.filter(({ from }) => !taken.has(bare(from))),
      ).slice(0, 3),
    );
  }
  const { config } = known ?? {};
  if (config === undefined && Object.keys(written).length === 0) return undefined;
  const preset = config?.preset === undefined ? {} : { preset: config.preset };
  const names = config === undefined || Object.keys(config.names).length === 0 ? {} : { names: config.names };
  return {
    mapping: { ...preset, ...names, ...(Object.keys(written).length > 0 && { tables: written }) },
    notes,
  };
}

/** A preset's table: its expressions mended, and its empty columns filled from columns that are called like them. */
async function overPreset(
  table: TableName,
  mapping: ResolvedMapping,
  sources: readonly TableSource[],
  tables: readonly SightedTable[],
  reader: ValueReader,
): Promise<{ readonly columns: Record<string, string>; readonly notes: readonly ValueNote[] }> {
  const [source, ...more] = sources;
  const notes = await valueHelpers.look(mapping, reader, [table]);
  const columns: Record<string, string> = {};
  if (source === undefined || more.length > 0) return { columns, notes };
  for (const { what, mend } of notes) if (mend !== undefined) columns[what.slice(`otel.${table}.`.length)] = mend;
  const from = tables.find((one) => bare(one.from) === bare(source.from));
  const like = from && (await columnsLike(table, from, reader));
  const lacked = mapping.empties.filter((one) => one.table === table).map(({ column }) => column);
  for (const column of lacked) {
    const filled = like?.columns[column];
    if (filled !== undefined) columns[column] = filled;
  }
  return {
    columns,
    notes: [
      ...notes,
      ...(like?.notes ?? []).filter(({ what }) => lacked.some((column) => what === `otel.${table}.${column}`)),
    ],
  };
}

/** The table with the most columns that are like ours. */
async function likest(
  table: TableName,
  tables: readonly SightedTable[],
  reader: ValueReader,
): Promise<Mapped | undefined> {
  const found: Mapped[] = [];
  const plausible = tables.filter((from) =>
    signs[table].every((name) => has(table, from, name) || (name === 'body' && has(table, from, 'attributes'))),
  );
  for (const from of plausible.slice(0, mostTables)) {
    const like = await columnsLike(table, from, reader);
    if (like !== undefined && signs[table].every((name) => like.columns[name] !== undefined)) found.push(like);
  }
  return found.toSorted((one, two) => Object.keys(two.columns).length - Object.keys(one.columns).length).at(0);
}
