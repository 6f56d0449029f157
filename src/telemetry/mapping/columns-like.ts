import {
  otelTables,
  type FoundColumn,
  type LogicalColumn,
  type SightedTable,
  type TableName,
  type ValueNote,
  type ValueReader,
} from '../../contract/telemetry/index.ts';
import { candidates, namesOf, plainName } from './candidates.ts';
import { fitOf } from './forms.ts';
import { noRows } from './look.ts';
import type { Fit, Seen, SeenColumns } from './seen.ts';
import { momentForm } from './times.ts';
import { severityOf } from './words.ts';

/** What of a log or a sender is looked for among the keys of attributes too. */
const amongKeys: ReadonlySet<string> = new Set([
  'body',
  'severity_text',
  'trace_id',
  'span_id',
  'service_name',
  'service_version',
  'deployment_environment',
]);

export interface Mapped {
  readonly table: TableName;
  readonly from: SightedTable;
  readonly columns: Readonly<Record<string, string>>;
  readonly timeBounds: readonly string[];
  readonly notes: readonly ValueNote[];
}

/** What of a table is like which of our columns, by names, then by values. */
export async function columnsLike(
  table: TableName,
  from: SightedTable,
  reader: ValueReader,
): Promise<Mapped | undefined> {
  const logical: readonly LogicalColumn[] = otelTables[table].columns.filter(
    ({ name, type }) => name !== 'start_time' && !['events', 'links', 'exemplars', 'quantiles'].includes(type),
  );
  const wanted = new Map(logical.map((column) => [column, candidates(table, column.name, from)]));
  const asked = [...new Set([...wanted.values()].flat())];
  const samples = await reader
    .sample(
      from.from,
      undefined,
      asked.map(({ sql }) => sql),
    )
    .catch(() => undefined);
  if (samples === undefined) return undefined;
  const seenOf = (column: FoundColumn): Seen => ({ ...column, cells: samples[asked.indexOf(column)]?.cells ?? [] });
  const notes: ValueNote[] = [];
  const columns: Record<string, string> = {};
  const seen: Record<string, Seen> = {};
  const taken = new Set<string>();
  const say = (name: string, { found, mend }: Fit) => {
    if (found !== undefined) notes.push({ what: `otel.${table}.${name}`, found, ...(mend !== undefined && { mend }) });
  };
  const bounds: string[] = [];
  // A duration is judged by its beginning and its end.
  const last = (name: string) => (name === 'duration_nano' ? 1 : 0);
  for (const [column, found] of [...wanted].toSorted(([one], [other]) => last(one.name) - last(other.name))) {
    const { name, type } = column;
    if (type === 'map') {
      const maps = found.map(seenOf).map((one) => ({ one, fit: fitOf(column, one, seen, reader.sql) }));
      const readable = maps.filter(
        ({ one, fit }) =>
          fit === undefined ||
          (fit.mend !== undefined && one.holds !== 'text') ||
          fit.found === 'JSON as text' ||
          fit.found?.startsWith('lists'),
      );
      const parts = readable.map(({ one, fit }) => fit?.mend ?? one.sql);
      if (parts.length === 0) continue;
      columns[name] = parts.length === 1 ? (parts[0] ?? '') : reader.sql.merged(parts);
      for (const { fit } of readable)
        if (fit?.found !== undefined) say(name, { found: fit.found, mend: columns[name] });
      if (readable[0] !== undefined)
        seen[name] = { ...readable[0].one, sql: columns[name], cells: maps.flatMap(({ one }) => one.cells) };
      continue;
    }
    const tried = found
      .filter(({ name: physical }) => !taken.has(physical))
      .map(seenOf)
      .map((one) => ({ one, fit: fitOf(column, one, seen, reader.sql) }));
    const best = tried.find(({ fit }) => fit === undefined || fit.mend !== undefined);
    if (best === undefined) {
      if (tried[0]?.fit !== undefined) say(name, tried[0].fit);
      continue;
    }
    const { one, fit } = best;
    taken.add(one.name);
    seen[name] = one;
    columns[name] = fit?.mend ?? one.sql;
    if (fit !== undefined) say(name, fit);
    const form = name === 'time' ? momentForm(one) : undefined;
    if (form !== undefined && form !== 'time') bounds.push(...reader.sql.bounds(one.sql, form));
  }
  derive(table, seen, columns, reader, say);
  if (samples[0]?.cells.length === 0) notes.push({ what: `otel.${table}`, found: noRows });
  return { table, from, columns, timeBounds: bounds, notes };
}

/** What follows from other columns: an end from a duration, a severity from its word, a sender from attributes. */
function derive(
  table: TableName,
  seen: SeenColumns,
  columns: Record<string, string>,
  { sql }: ValueReader,
  say: (name: string, fit: Fit) => void,
): void {
  const { time, end_time: end, duration_nano: duration } = columns;
  if (table === 'spans' && time !== undefined) {
    if (duration === undefined && end !== undefined) columns['duration_nano'] = sql.between(time, end);
    if (end === undefined && duration !== undefined) columns['end_time'] = sql.after(time, duration);
  }
  const logical: readonly LogicalColumn[] = otelTables[table].columns;
  const all: Record<string, Seen | undefined> = { ...seen };
  for (const column of logical) {
    const { name } = column;
    if (!amongKeys.has(name) || columns[name] !== undefined) continue;
    const maps = ['resource_attributes', 'attributes'].filter((map) => columns[map] !== undefined);
    const [found] = maps.flatMap((map) => {
      const keys = keysOf(seen[map]);
      const known = [...keys.keys()];
      const key = namesOf(table, name).flatMap((one) => known.find((given) => plainName(given) === one) ?? [])[0];
      return key === undefined ? [] : [{ map, key, cells: keys.get(key) ?? [] }];
    });
    if (found === undefined) continue;
    const { map, key, cells } = found;
    const one: Seen = { sql: sql.attribute(columns[map] ?? '', key), name: key, holds: 'text', nullable: false, cells };
    columns[name] = fitOf(column, one, all, sql)?.mend ?? one.sql;
    all[name] = one;
    say(name, { found: `no column of its own, but the key ${key} of ${map}`, mend: columns[name] });
  }
  const text = all['severity_text'];
  if (table === 'logs' && text !== undefined && columns['severity_number'] === undefined) {
    const fit = severityOf('severity_text', { ...text, sql: columns['severity_text'] ?? text.sql });
    columns['severity_number'] = fit.mend ?? '0';
    say('severity_number', fit);
  }
}

/** The keys of a map's first rows, with their values. */
function keysOf(map: Seen | undefined): ReadonlyMap<string, readonly string[]> {
  const keys = new Map<string, string[]>();
  for (const cell of map?.cells.slice(0, 200) ?? []) {
    for (const [key, value] of Object.entries(parsed(cell))) {
      keys.set(key, [...(keys.get(key) ?? []), typeof value === 'string' ? value : JSON.stringify(value)]);
    }
  }
  return keys;
}

/** Of JSON, also of OTLP's list of keys and values. */
function parsed(cell: string | null): object {
  try {
    const value: unknown = JSON.parse(cell ?? '');
    if (!Array.isArray(value)) return typeof value === 'object' && value !== null ? value : {};
    const pairs = value.flatMap((pair: unknown): readonly (readonly [string, unknown])[] => {
      if (typeof pair !== 'object' || pair === null || !('key' in pair) || !('value' in pair)) return [];
      const [first]: readonly unknown[] = Object.values(Object(pair.value));
      return [[String(pair.key), first ?? '']];
    });
    return Object.fromEntries(pairs);
  } catch {
    return {};
  }
}
