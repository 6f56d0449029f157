import {
  otelTables,
  tableNames,
  type FoundColumn,
  type LogicalColumn,
  type ResolvedMapping,
  type Sample,
  type SightedTable,
  type TableName,
  type TableSource,
  type ValueHelpers,
  type ValueNote,
  type ValueReader,
} from '../../contract/telemetry/index.ts';
import { fitOf, momentForm, severityOf, type Fit, type Seen, type SeenColumns } from './forms.ts';

/** What else a logical column is called, in lower case and without underscores, likeliest first. */
const otherNames: Readonly<Record<string, string>> = {
  time: 'timestamp time starttime starttimestamp startts starttimeunixnano timestampns timestampnano timeunixnano timeunix begin began beginat startedat start ts at eventtime datetime createdat',
  observed_time: 'observedtimestamp observedtime observedtimeunixnano',
  end_time: 'endtime endtimestamp endts endtimeunixnano endat endedat finishedat ended end',
  duration_nano:
    'durationnano durationns durationnanos duration durationmicro durationus durationmicros durationms durationmillis durationseconds durations elapsed elapsedms latencyms latency micros millis nanos took tookms',
  trace_id: 'traceid trace',
  span_id: 'spanid span',
  parent_span_id: 'parentspanid parentid parentobservationid parentspan parent',
  name: 'spanname operationname operation metricname metric name displayname',
  kind: 'spankind kind',
  status_code:
    'statuscode status haserrors haserror iserror error failed success succeeded httpstatus httpstatuscode responsecode level',
  status_message: 'statusmessage errormessage',
  service_name: 'servicename service service.name app application appname',
  service_version: 'serviceversion service.version version release',
  deployment_environment: 'deploymentenvironment deployment.environment.name deployment.environment environment env',
  attributes:
    'attributes spanattributes traceattributes logattributes tags spantags attr attrs labels metadata data fields properties',
  resource_attributes: 'resourceattributes resource resourcetags',
  scope_name: 'scopename instrumentationscope',
  body: 'body message msg log line text',
  severity_text: 'severitytext severity level loglevel lvl',
  severity_number: 'severitynumber priority',
  event_name: 'eventname',
  value: 'value val',
  unit: 'unit metricunit',
  type: 'type metrictype',
};

/** Without these a table is not of its kind. */
const signs = {
  spans: ['time', 'trace_id', 'span_id', 'name'],
  logs: ['time', 'body'],
  metrics: ['time', 'name', 'value'],
} as const satisfies Record<TableName, readonly string[]>;

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
const mostTables = 40;
const noRows = 'no rows to look at, so that names alone tell';

interface Mapped {
  readonly table: TableName;
  readonly from: SightedTable;
  readonly columns: Readonly<Record<string, string>>;
  readonly timeBounds: readonly string[];
  readonly notes: readonly ValueNote[];
}

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

function has(table: TableName, from: SightedTable, name: string): boolean {
  return candidates(table, name, from).length > 0;
}

/** What is nearly such a table, or holds a metric in each of its columns. */
function nearly(table: TableName, tables: readonly SightedTable[]): readonly ValueNote[] {
  return tables.slice(0, 1_000).flatMap((from) => {
    const lacked = signs[table].filter((name) => !has(table, from, name));
    const wide =
      table === 'metrics' &&
      has(table, from, 'time') &&
      from.columns.filter(({ holds }) => holds === 'float').length > 1;
    const [name] = lacked;
    if (name === undefined || name === 'time' || (!wide && (table === 'logs' || lacked.length > 1))) return [];
    const found = wide ? 'may hold a metric in each column' : `lacks only a column that is like ${name}`;
    return [{ what: `otel.${table}`, found: `${bare(from.from)} ${found}` }];
  });
}

/** A FROM item, however it is quoted. */
function bare(from: string): string {
  return from.replaceAll(/["`]/g, '');
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll('_', '');
}

/** Attributes are split by the types of their values, or into numbered columns. */
function mapName(name: string): string {
  const words = name.toLowerCase().split('_');
  return words.filter((word) => !/^(str|strings?|num|numbers?|ints?|float|double|bool|map|\d+)$/.test(word)).join('');
}

function namesOf(table: TableName, logical: string): readonly string[] {
  const others = (otherNames[logical] ?? '').split(' ');
  return [logical.replaceAll('_', ''), ...others, ...(table === 'spans' && logical === 'span_id' ? ['id'] : [])];
}

function candidates(table: TableName, logical: string, { columns }: SightedTable): readonly FoundColumn[] {
  const names = namesOf(table, logical);
  if (logical.endsWith('attributes')) {
    return columns.filter(({ name, holds }) => names.includes(mapName(name)) && /map|json|text/.test(holds));
  }
  const column: LogicalColumn | undefined = otelTables[table].columns.find(({ name }) => name === logical);
  return names
    .filter((name) => table === 'spans' || name !== 'level' || logical !== 'status_code')
    .flatMap((name) => columns.filter((one) => plainName(one.name) === name))
    .filter(
      ({ holds }) => holds !== 'other' && !/map|json/.test(holds) && (column?.type !== 'string' || holds !== 'time'),
    );
}

/** What of a table is like which of our columns, by names, then by values. */
async function columnsLike(table: TableName, from: SightedTable, reader: ValueReader): Promise<Mapped | undefined> {
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

/** The mapped expressions of one source, as they are served. */
async function lookAt(
  table: TableName,
  { from, where, columns: mapped }: TableSource,
  { empties }: ResolvedMapping,
  reader: ValueReader,
): Promise<readonly ValueNote[]> {
  const lacked = new Set(empties.filter((one) => one.table === table).map(({ column }) => column));
  const logical: readonly LogicalColumn[] = otelTables[table].columns;
  const looked = logical.filter(
    ({ name, type, nullable }) =>
      !lacked.has(name) && nullable === undefined && /^(timestamp|string|int64|map)$/.test(type),
  );
  const expressions = looked.map(({ name }) => mapped[name] ?? '');
  const what = (name: string) => `otel.${table}.${name}`;
  const samples = await reader.sample(from, where, expressions).catch(() => undefined);
  if (samples === undefined)
    return [{ what: `otel.${table}`, found: 'it could not be read, so nothing is known of its values' }];
  const rows = samples[0]?.cells.length ?? 0;
  if (rows === 0) return [{ what: `otel.${table}`, found: noRows }];
  const seen: Record<string, Seen> = {};
  looked.forEach(({ name }, at) => {
    const sample: Sample | undefined = samples[at];
    const sql = expressions[at] ?? '';
    // Of an expression the name says nothing of the unit: it may be mended already.
    const unit = /^[\w"`]+$/.test(sql) ? sql : 'nano';
    if (sample !== undefined) seen[name] = { sql, name: unit, nullable: false, ...sample };
  });
  const text = seen['severity_text'];
  return looked.flatMap((column): readonly ValueNote[] => {
    const one = seen[column.name];
    if (one === undefined) return [];
    const isEmpty = one.cells.every((cell) => cell === null || ['', '0', '{}', '[]', 'UNSPECIFIED'].includes(cell));
    if (column.name === 'severity_number' && isEmpty && text !== undefined) {
      const fit = severityOf('severity_text', text);
      if (fit.mend !== undefined && text.cells.some((cell) => cell !== null && cell !== ''))
        return [
          { what: what(column.name), found: `0 in all ${rows} rows, while severity_text says more`, mend: fit.mend },
        ];
    }
    const fit = fitOf(column, one, seen, reader.sql);
    if (column.name === 'duration_nano' && fit?.mend === one.sql) return [];
    if (fit?.found !== undefined && !(isEmpty && fit.mend === undefined)) {
      return [
        {
          what: what(column.name),
          found: fit.found,
          ...(fit.mend !== undefined && fit.mend !== one.sql && { mend: fit.mend }),
        },
      ];
    }
    return isEmpty && column.name !== 'status_message'
      ? [{ what: what(column.name), found: `empty in all ${rows} rows looked at`, empty: true }]
      : [];
  });
}
