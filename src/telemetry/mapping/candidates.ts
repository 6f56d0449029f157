import {
  otelTables,
  type FoundColumn,
  type LogicalColumn,
  type SightedTable,
  type TableName,
  type ValueNote,
} from '../../contract/telemetry/index.ts';

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
export const signs = {
  spans: ['time', 'trace_id', 'span_id', 'name'],
  logs: ['time', 'body'],
  metrics: ['time', 'name', 'value'],
} as const satisfies Record<TableName, readonly string[]>;

export function has(table: TableName, from: SightedTable, name: string): boolean {
  return candidates(table, name, from).length > 0;
}

/** What is nearly such a table, or holds a metric in each of its columns. */
export function nearly(table: TableName, tables: readonly SightedTable[]): readonly ValueNote[] {
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
export function bare(from: string): string {
  return from.replaceAll(/["`]/g, '');
}

export function plainName(name: string): string {
  return name.toLowerCase().replaceAll('_', '');
}

/** Attributes are split by the types of their values, or into numbered columns. */
function mapName(name: string): string {
  const words = name.toLowerCase().split('_');
  return words.filter((word) => !/^(str|strings?|num|numbers?|ints?|float|double|bool|map|\d+)$/.test(word)).join('');
}

export function namesOf(table: TableName, logical: string): readonly string[] {
  const others = (otherNames[logical] ?? '').split(' ');
  return [logical.replaceAll('_', ''), ...others, ...(table === 'spans' && logical === 'span_id' ? ['id'] : [])];
}

export function candidates(table: TableName, logical: string, { columns }: SightedTable): readonly FoundColumn[] {
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
