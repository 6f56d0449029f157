import {
  examplesOf,
  servedTables,
  type Dialect,
  type DialectWriter,
  type ResolvedMapping,
} from '../../src/contract/telemetry/index.ts';
import { policy } from './gate/policy.ts';
import { jsonAttribute, jsonToMap } from './json-attributes.ts';
import { identifier, literal } from './quote.ts';
import { typeOf } from './types.ts';

export interface DialectOptions {
  readonly version: string;
  readonly mapping: ResolvedMapping;
  /** Logical columns that are JSON and not maps. */
  readonly json: ReadonlySet<string>;
}

export function dialectOf({ version, mapping, json }: DialectOptions): Dialect {
  const isJson = (map: string) => json.has(map.split('.').at(-1) ?? map);
  const attribute = (map: string, key: string) => (isJson(map) ? jsonAttribute(map, key) : `${map}[${literal(key)}]`);
  const paths = isJson('attributes');
  const read = (path: string) => (paths ? `attributes.${path}::String` : attribute('attributes', path));
  const route = read('http.route');
  return {
    name: 'clickhouse',
    version,
    tables: servedTables(mapping),
    typeName: (type) => (paths && type === 'map' ? 'JSON' : typeOf[type]),
    attributeHint: `${route} (String, '' if absent); numbers: toInt64OrNull(${read('http.response.status_code')})`,
    examples: examples(route),
    functions: [...policy.functions],
    write: writer(attribute, isJson),
  };
}

function writer(attribute: DialectWriter['attribute'], isJson: (map: string) => boolean): DialectWriter {
  const write: DialectWriter = {
    literal(value) {
      if (value instanceof Date) {
        return `toDateTime64('${value.toISOString().replace('T', ' ').replace('Z', '')}', 3, 'UTC')`;
      }
      if (typeof value === 'string') return literal(value);
      if (typeof value === 'boolean') return value ? 'true' : 'false';
      return Number.isFinite(value)
        ? String(value)
        : `toFloat64('${Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'}')`;
    },
    attribute,
    bucket: (time, seconds) => `toStartOfInterval(${time}, toIntervalSecond(${seconds}))`,
    quantile: (expression, fraction) => `quantileExactInclusive(${fraction})(${expression})`,
    countIf: (condition) => `countIf(${condition})`,
    ratio: (a, b) => `(toFloat64(${a}) / nullIf(toFloat64(${b}), 0))`,
    replaceRegexp: (text, pattern, replacement) =>
      `replaceRegexpAll(${text}, ${literal(pattern)}, ${literal(replacement)})`,
    matches: (text, pattern) => `match(${text}, ${literal(pattern)})`,
    number: (text) => `toFloat64OrNull(${text})`,
    ago: (count, unit) => `now() - INTERVAL ${count} ${unit.toUpperCase()}`,
    unnestMap(map, alias) {
      const entries = `CAST(${isJson(map) ? jsonToMap(map) : map}, 'Array(Tuple(key String, value String))')`;
      return `(SELECT 1 AS one) AS ${identifier(`${alias}_one`)} ARRAY JOIN ${entries} AS ${identifier(alias)}`;
    },
    timeText: (time, pattern) => `formatDateTime(${time}, ${literal(pattern.replaceAll('%M', '%i'))})`,
    epochSeconds: (time) => `toUnixTimestamp(${time})`,
    valueAt: (value, by, which) => `arg${which === 'max' ? 'Max' : 'Min'}(${value}, ${by})`,
    anyValue: (expression) => `any(${expression})`,
    joined: (expression, separator) => `arrayStringConcat(groupArray(${expression}), ${literal(separator)})`,
    distinctArray: (expression) => `groupUniqArray(${expression})`,
    exception: (events) =>
      `arrayMap(e -> arrayStringConcat(arrayFilter(part -> part <> '', [e.attributes['exception.type'], e.attributes['exception.message']]), ': '), ` +
      `arrayFilter(e -> e.name = 'exception', ${events}))[1]`,
  };
  return write;
}

function examples(route: string): Dialect['examples'] {
  return examplesOf({
    'Error rate and p95 latency by service over the last hour':
      "SELECT service_name, count() AS spans, countIf(status_code = 'ERROR') / count() AS error_rate, quantile(0.95)(duration_nano) / 1e6 AS p95_ms FROM otel.spans WHERE time > now() - INTERVAL 1 HOUR AND kind = 'SERVER' GROUP BY service_name ORDER BY error_rate DESC",
    'Requests per five minutes by route': `SELECT toStartOfInterval(time, INTERVAL 5 MINUTE) AS bucket, ${route} AS route, count() AS requests FROM otel.spans WHERE time > now() - INTERVAL 6 HOUR AND kind = 'SERVER' GROUP BY bucket, route ORDER BY bucket, requests DESC`,
    'The slowest spans':
      'SELECT time, service_name, name, duration_nano / 1e6 AS ms, trace_id FROM otel.spans WHERE time > now() - INTERVAL 1 HOUR ORDER BY duration_nano DESC LIMIT 20',
    'Error logs with their trace':
      'SELECT time, service_name, body, trace_id FROM otel.logs WHERE severity_number >= 17 AND time > now() - INTERVAL 1 HOUR ORDER BY time DESC LIMIT 50',
    'Most common log patterns':
      "SELECT service_name, replaceRegexpAll(body, '[0-9a-f]{8,}|[0-9]+', '#') AS pattern, count() AS n FROM otel.logs WHERE time > now() - INTERVAL 1 HOUR GROUP BY service_name, pattern ORDER BY n DESC LIMIT 20",
    'A gauge per service and minute':
      "SELECT toStartOfMinute(time) AS minute, service_name, avg(value) AS average FROM otel.metrics WHERE name = 'process.cpu.utilization' AND time > now() - INTERVAL 1 HOUR GROUP BY minute, service_name ORDER BY minute",
  });
}
