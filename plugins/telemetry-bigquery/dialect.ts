import { examplesOf, type Dialect, type DialectWriter, type LogicalTable } from '../../src/contract/telemetry/index.ts';
import { functionNames } from './gate/policy.ts';
import { attributeText, textLiteral, timestampLiteral, type KeyStyle, columnTypes } from './literals.ts';

/** How deep attributes lie in objects, at most, where their keys are taken apart at the dots. */
const deepest = 5;

export function dialectOf(tables: readonly LogicalTable[], style: KeyStyle): Dialect {
  const write = writerOf(style);
  const route = attributeText('attributes', 'http.route', style);
  const status = attributeText('attributes', 'http.response.status_code', style);
  return {
    name: 'bigquery',
    version: 'GoogleSQL',
    tables,
    typeName: (type) => columnTypes[type],
    attributeHint: `${route} (STRING, NULL if absent); numbers: SAFE_CAST(${status} AS INT64)`,
    examples: examplesFor(tables, route),
    functions: functionNames,
    write,
  };
}

function writerOf(style: KeyStyle): DialectWriter {
  return {
    literal(value) {
      if (value instanceof Date) return timestampLiteral(value);
      if (typeof value === 'string') return textLiteral(value);
      if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
      return Number.isFinite(value) ? String(value) : `CAST('${value}' AS FLOAT64)`;
    },
    attribute: (map, key) => attributeText(map, key, style),
    bucket: (time, seconds) => `TIMESTAMP_SECONDS(DIV(UNIX_SECONDS(${time}), ${seconds}) * ${seconds})`,
    quantile: (expression, fraction) =>
      `APPROX_QUANTILES(${expression}, 1000)[SAFE_OFFSET(${Math.round(fraction * 1000)})]`,
    countIf: (condition) => `COUNTIF(${condition})`,
    ratio: (a, b) => `SAFE_DIVIDE(CAST(${a} AS FLOAT64), CAST(${b} AS FLOAT64))`,
    replaceRegexp: (text, pattern, replacement) =>
      // RE2 takes \1 in the replacement for a group.
      `REGEXP_REPLACE(${text}, ${textLiteral(pattern)}, ${textLiteral(replacement.replaceAll('\\', '\\\\'))})`,
    matches: (text, pattern) => `REGEXP_CONTAINS(${text}, ${textLiteral(pattern)})`,
    number: (text) => `SAFE_CAST(${text} AS FLOAT64)`,
    // TIMESTAMP_SUB knows no weeks.
    ago: (count, unit) =>
      unit === 'week'
        ? `TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL ${count * 7} DAY)`
        : `TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL ${count} ${unit.toUpperCase()})`,
    unnestMap: (map, alias) =>
      `UNNEST(ARRAY(SELECT AS STRUCT name AS key, LAX_STRING(${valueAt(map, style)}) AS value ` +
      `FROM UNNEST(${namesOf(map, style)}) AS name${leavesOnly(map, style)})) AS ${alias}`,
    timeText: (time, pattern) => `FORMAT_TIMESTAMP(${textLiteral(pattern)}, ${time})`,
    epochSeconds: (time) => `UNIX_SECONDS(${time})`,
    valueAt: (value, by, which) => `${which === 'max' ? 'MAX' : 'MIN'}_BY(${value}, ${by})`,
    anyValue: (expression) => `ANY_VALUE(${expression})`,
    joined: (expression, separator) => `STRING_AGG(CAST(${expression} AS STRING), ${textLiteral(separator)})`,
    distinctArray: (expression) => `ARRAY_AGG(DISTINCT ${expression})`,
    exception: (events) =>
      `(SELECT ARRAY_TO_STRING([${attributeText('e.attributes', 'exception.type', style)}, ${attributeText('e.attributes', 'exception.message', style)}], ': ') ` +
      `FROM UNNEST(${events}) AS e WHERE e.name = 'exception' LIMIT 1)`,
  };
}

/** Keys that JSON_KEYS puts in double quotes come without them. */
function namesOf(map: string, style: KeyStyle): string {
  if (style === 'nested') return `JSON_KEYS(${map}, ${deepest})`;
  return (
    `ARRAY(SELECT IF(STARTS_WITH(raw, '"'), SUBSTR(raw, 2, LENGTH(raw) - 2), raw) ` +
    `FROM UNNEST(JSON_KEYS(${map}, 1)) AS raw)`
  );
}

/** Where keys lie in objects, the objects are no attributes themselves. */
function leavesOnly(map: string, style: KeyStyle): string {
  return style === 'flat' ? '' : ` WHERE JSON_TYPE(${valueAt(map, style)}) != 'object'`;
}

/** A path in JSON_VALUE must be written out; a subscript may be any text. */
function valueAt(map: string, style: KeyStyle): string {
  if (style === 'flat') return `${map}[name]`;
  const part = (at: number) => `[SPLIT(name, '.')[SAFE_OFFSET(${at})]]`;
  const cases = Array.from({ length: deepest }, (_, depth) => {
    const path = Array.from({ length: depth + 1 }, (_part, at) => part(at)).join('');
    return `WHEN ${depth + 1} THEN ${map}${path}`;
  });
  return `CASE ARRAY_LENGTH(SPLIT(name, '.')) ${cases.join(' ')} END`;
}

function examplesFor(tables: readonly LogicalTable[], route: string): Dialect['examples'] {
  const since = (hours: number) => `time > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL ${hours} HOUR)`;
  const all = examplesOf({
    'Error rate and p95 latency by service over the last hour': `SELECT service_name, COUNT(*) AS spans, SAFE_DIVIDE(COUNTIF(status_code = 'ERROR'), COUNT(*)) AS error_rate, APPROX_QUANTILES(duration_nano, 100)[OFFSET(95)] / 1e6 AS p95_ms FROM otel.spans WHERE ${since(1)} AND kind = 'SERVER' GROUP BY service_name ORDER BY error_rate DESC`,
    'Requests per five minutes by route': `SELECT TIMESTAMP_SECONDS(DIV(UNIX_SECONDS(time), 300) * 300) AS bucket, ${route} AS route, COUNT(*) AS requests FROM otel.spans WHERE ${since(6)} AND kind = 'SERVER' GROUP BY bucket, route ORDER BY bucket, requests DESC`,
    'The slowest spans': `SELECT time, service_name, name, duration_nano / 1e6 AS ms, trace_id FROM otel.spans WHERE ${since(1)} ORDER BY duration_nano DESC LIMIT 20`,
    'Exceptions by type': `SELECT s.service_name, JSON_VALUE(e.attributes, '$."exception.type"') AS type, COUNT(*) AS n FROM otel.spans AS s CROSS JOIN UNNEST(s.events) AS e WHERE s.${since(1)} AND e.name = 'exception' GROUP BY service_name, type ORDER BY n DESC LIMIT 20`,
    'Error logs with their trace': `SELECT time, service_name, body, trace_id FROM otel.logs WHERE severity_number >= 17 AND ${since(1)} ORDER BY time DESC LIMIT 50`,
    'Most common log patterns': `SELECT service_name, REGEXP_REPLACE(body, r'[0-9a-f]{8,}|\\d+', '#') AS pattern, COUNT(*) AS n FROM otel.logs WHERE ${since(1)} GROUP BY service_name, pattern ORDER BY n DESC LIMIT 20`,
    'Errors per minute and service': `SELECT TIMESTAMP_TRUNC(time, MINUTE) AS minute, service_name, COUNT(*) AS errors FROM otel.logs WHERE severity_number >= 17 AND ${since(6)} GROUP BY minute, service_name ORDER BY minute`,
    'A gauge per service and minute': `SELECT TIMESTAMP_TRUNC(time, MINUTE) AS minute, service_name, AVG(value) AS value FROM otel.metrics WHERE name = 'process.cpu.utilization' AND ${since(1)} GROUP BY minute, service_name ORDER BY minute`,
  });
  return all.filter(({ sql }) => tables.some(({ name }) => sql.includes(`FROM otel.${name} `)));
}
