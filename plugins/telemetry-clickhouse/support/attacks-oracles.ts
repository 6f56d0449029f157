import { withheldPrefix } from '../../../test/contract/isolation-rows.ts';

const guess = `'${withheldPrefix}%'`;

/**
 * Statements that answer with the caller's own rows, and would fail or answer otherwise if another organization's were
 * evaluated before they are left out: a conversion, a division, a bound, a join, a statistic.
 */
export const oracles: readonly string[] = [
  `SELECT count() FROM otel.logs WHERE toUInt8(if(body LIKE ${guess}, body, '0')) = 0`,
  `SELECT count() FROM otel.logs WHERE CAST(if(body LIKE ${guess}, body, '0') AS Int64) = 0`,
  `SELECT count() FROM otel.spans WHERE if(name LIKE ${guess}, name, '1')::UInt8 = 1`,
  `SELECT count() FROM otel.spans PREWHERE toUInt8(if(name LIKE ${guess}, name, '0')) = 0`,
  `SELECT toInt32(if(name LIKE ${guess}, name, '1')) FROM otel.spans`,
  `SELECT countIf(toFloat64(if(name LIKE ${guess}, name, '1')) = 1) FROM otel.spans`,
  `SELECT name FROM otel.spans ORDER BY toDate(if(name LIKE ${guess}, name, '2026-01-01'))`,
  `SELECT sum(toInt64(if(service_name LIKE ${guess}, service_name, '1'))) FROM otel.metrics`,
  `SELECT max(toUUID(if(attributes['secret'] LIKE ${guess}, attributes['secret'], '00000000-0000-0000-0000-000000000001'))) FROM otel.spans`,
  `SELECT count() FROM otel.spans WHERE toUInt8(if(resource_attributes['secret'] LIKE ${guess}, resource_attributes['secret'], '1')) = 1`,
  `SELECT a.name FROM otel.spans AS a JOIN otel.logs AS b ON toUInt8(if(b.body LIKE ${guess}, b.body, '1')) = toUInt8(if(a.name LIKE ${guess}, a.name, '1'))`,
  `SELECT name FROM otel.spans WHERE name IN (SELECT toString(toUInt8(if(body LIKE ${guess}, body, '1'))) FROM otel.logs) OR 1`,
  `SELECT arrayMap(v -> toUInt8(if(v LIKE ${guess}, v, '1')), mapValues(attributes)) FROM otel.spans`,
  `SELECT name FROM otel.spans GROUP BY name HAVING toUInt8(if(max(name) LIKE ${guess}, max(name), '1')) = 1`,
  `SELECT name, row_number() OVER (ORDER BY toUInt8(if(name LIKE ${guess}, name, '1'))) FROM otel.spans`,
  `SELECT name FROM otel.spans QUALIFY max(toUInt8(if(name LIKE ${guess}, name, '1'))) OVER () = 1`,
  `SELECT intDiv(10, if(name LIKE ${guess}, 0, 1)) FROM otel.spans`,
  `SELECT count() FROM otel.spans WHERE 1 % if(name LIKE ${guess}, 0, 2) = 1`,
  `SELECT intDiv(1, if(count() > 100, 0, 1)) FROM otel.spans`,
  `SELECT intDiv(1, if(max(duration_nano) > 2000000, 0, 1)) FROM otel.spans`,
  `SELECT intDiv(1, if(uniq(name) > 1, 0, 1)) FROM otel.spans`,
  `SELECT toUInt8(if(length(groupArray(name)) > 100, 'many', '1')) FROM otel.spans`,
  `SELECT e.name FROM otel.spans AS s ARRAY JOIN s.events AS e WHERE toUInt8(if(e.name LIKE ${guess}, e.name, '1')) = 1`,
  `SELECT toDateTime(if(name LIKE ${guess}, name, '2026-01-01 00:00:00')) FROM otel.spans LIMIT 1 BY name`,
  `SELECT parseDateTimeBestEffort(if(body LIKE ${guess}, body, '2026-01-01')) FROM otel.logs`,
  `SELECT toIPv4(if(body LIKE ${guess}, body, '10.0.0.1')) FROM otel.logs`,
  `SELECT toDecimal64(if(body LIKE ${guess}, body, '1'), 2) FROM otel.logs`,
  `SELECT toFixedString(if(body LIKE ${guess}, body, 'x'), 5) FROM otel.logs`,
  `SELECT count() FROM otel.logs WHERE NOT (body LIKE ${guess} AND toUInt8(if(body LIKE ${guess}, body, '1')) = 1)`,
  `WITH x AS (SELECT toUInt8(if(body LIKE ${guess}, body, '1')) AS n FROM otel.logs) SELECT sum(n) FROM x`,
  `SELECT count() FROM (SELECT * FROM otel.logs UNION ALL SELECT * FROM otel.logs) WHERE toUInt8(if(body LIKE ${guess}, body, '1')) = 1`,
  `SELECT if(toUInt8(if(any(body) LIKE ${guess}, any(body), '1')) = 1, 'a', 'b') FROM otel.logs`,
  `SELECT count() FROM otel.logs WHERE time > now() - INTERVAL 1 DAY AND toUInt8(if(trace_id = '${'0'.repeat(31)}1', '1', trace_id)) = 1`,
  `SELECT topK(1)(toUInt8(if(body LIKE ${guess}, body, '1'))) FROM otel.logs`,
];
