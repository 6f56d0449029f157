import { examplesOf, otelTables, type Dialect, type DialectWriter } from '../../src/contract/telemetry/index.ts';
import { quoteText, timestampLiteral } from './types.ts';
import { typeName } from './relation.ts';

const charOf: Readonly<Record<string, string>> = {
  '%Y': 'YYYY',
  '%y': 'YY',
  '%m': 'MM',
  '%b': 'Mon',
  '%d': 'DD',
  '%j': 'DDD',
  '%a': 'Dy',
  '%H': 'HH24',
  '%I': 'HH12',
  '%M': 'MI',
  '%S': 'SS',
  '%p': 'AM',
};

/** In quotes, since a letter of its own may mean something: DDTH is the day as 28th. */
function patternOf(pattern: string): string {
  return pattern.replaceAll(/%?[A-Za-z]+/g, (part) => {
    const [letter, rest] = part.startsWith('%') ? [part.slice(0, 2), part.slice(2)] : ['', part];
    return `${charOf[letter] ?? letter}${rest === '' ? '' : `"${rest}"`}`;
  });
}

const write: DialectWriter = {
  literal(value) {
    if (value instanceof Date) return timestampLiteral(value);
    if (typeof value === 'string') return quoteText(value);
    if (typeof value === 'boolean') return value ? 'true' : 'false';
    return Number.isFinite(value) ? String(value) : `'${value}'::double precision`;
  },
  attribute: (map, key) => `(${map} ->> ${quoteText(key)})`,
  bucket: (time, seconds) => `date_bin(interval '${seconds} seconds', ${time}, timestamptz '2000-01-01 00:00:00+00')`,
  quantile: (expression, fraction) => `percentile_cont(${fraction}) WITHIN GROUP (ORDER BY ${expression})`,
  countIf: (condition) => `count(*) FILTER (WHERE ${condition})`,
  ratio: (a, b) => `((${a})::double precision / nullif((${b})::double precision, 0))`,
  replaceRegexp: (text, pattern, replacement) =>
    `regexp_replace(${text}, ${quoteText(pattern)}, ${quoteText(replacement)}, 'g')`,
  matches: (text, pattern) => `${text} ~ ${quoteText(pattern)}`,
  // A cast alone fails on the first text that is no number.
  number: (text) => `(CASE WHEN ${text} ~ '^-?[0-9]+(\\.[0-9]+)?$' THEN ${text}::numeric END)`,
  ago: (count, unit) => `now() - interval '${count} ${unit}'`,
  // Attributes that are a list or a text have no keys.
  unnestMap: (map, alias) =>
    `jsonb_each_text(CASE WHEN jsonb_typeof(${map}) = 'object' THEN ${map} ELSE '{}'::jsonb END) AS ${alias}("key", "value")`,
  timeText: (time, pattern) => `to_char(${time}, ${quoteText(patternOf(pattern))})`,
  epochSeconds: (time) => `extract(epoch FROM ${time})`,
  valueAt: (value, by, which) => `(array_agg(${value} ORDER BY ${by} ${which === 'max' ? 'DESC' : 'ASC'}))[1]`,
  // PostgreSQL 15 knows no any_value.
  anyValue: (expression) => `min(${expression})`,
  joined: (expression, separator) => `string_agg((${expression})::text, ${quoteText(separator)})`,
  distinctArray: (expression) => `array_agg(DISTINCT ${expression})`,
  // A path, unlike a function, takes what is no list as nothing.
  exception: (events) =>
    `(SELECT concat_ws(': ', e.event #>> '{attributes,exception.type}', e.event #>> '{attributes,exception.message}') ` +
    `FROM jsonb_path_query(${events}, '$[*] ? (@.name == "exception")') AS e(event) LIMIT 1)`,
};

const examples = examplesOf({
  'Error rate and p95 latency by service over the last hour': `SELECT service_name, count(*) AS spans, (count(*) FILTER (WHERE status_code = 'ERROR'))::float8 / count(*) AS error_rate, percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_nano) / 1e6 AS p95_ms FROM otel.spans WHERE time > now() - interval '1 hour' AND kind = 'SERVER' GROUP BY service_name ORDER BY error_rate DESC`,
  'Requests per five minutes by route': `SELECT date_bin(interval '5 minutes', time, timestamptz '2000-01-01') AS bucket, attributes ->> 'http.route' AS route, count(*) AS requests FROM otel.spans WHERE time > now() - interval '6 hours' AND kind = 'SERVER' GROUP BY bucket, route ORDER BY bucket, requests DESC`,
  'The slowest spans': `SELECT time, service_name, name, duration_nano / 1e6 AS ms, trace_id FROM otel.spans WHERE time > now() - interval '1 hour' ORDER BY duration_nano DESC LIMIT 20`,
  'Error logs with their trace': `SELECT time, service_name, body, trace_id FROM otel.logs WHERE severity_number >= 17 AND time > now() - interval '1 hour' ORDER BY time DESC LIMIT 50`,
  'Most common log patterns': `SELECT service_name, regexp_replace(body, '[0-9a-f]{8,}|[0-9]+', '#', 'g') AS pattern, count(*) AS n FROM otel.logs WHERE time > now() - interval '1 hour' GROUP BY service_name, pattern ORDER BY n DESC LIMIT 20`,
  'A gauge per service and minute': `SELECT date_trunc('minute', time) AS minute, service_name, avg(value) AS value FROM otel.metrics WHERE name = 'process.cpu.utilization' AND time > now() - interval '1 hour' GROUP BY minute, service_name ORDER BY minute`,
  'Exceptions in the events of spans': `SELECT s.service_name, e.event -> 'attributes' ->> 'exception.type' AS exception, count(*) AS n FROM otel.spans AS s CROSS JOIN LATERAL jsonb_array_elements(s.events) AS e(event) WHERE s.time > now() - interval '1 hour' AND e.event ->> 'name' = 'exception' GROUP BY 1, 2 ORDER BY n DESC LIMIT 20`,
});

/** Its version and tables are known once the warehouse has been seen. */
export class PostgresDialect implements Dialect {
  readonly name = 'postgres';
  readonly attributeHint =
    "attributes ->> 'http.route' (text, NULL if absent); numbers: (attributes ->> 'http.response.status_code')::int";
  readonly examples = examples;
  readonly functions: readonly string[];
  readonly write = write;
  readonly typeName = typeName;
  #version = '';
  #tables: Dialect['tables'] = Object.values(otelTables);

  constructor(functions: readonly string[]) {
    this.functions = functions;
  }

  get version(): string {
    return this.#version;
  }

  get tables(): Dialect['tables'] {
    return this.#tables;
  }

  found(version: string, tables: Dialect['tables']): void {
    this.#version = version;
    this.#tables = tables;
  }
}
