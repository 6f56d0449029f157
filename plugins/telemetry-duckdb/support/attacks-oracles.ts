import { withheldPrefix } from '../../../test/contract/isolation-rows.ts';

const guess = `'${withheldPrefix}%'`;

/**
 * Statements that answer with the caller's own rows, and would fail or answer otherwise if another organization's were
 * evaluated before they are left out: a conversion, a division, a bound, a join, a statistic.
 */
export const oracles: readonly string[] = [
  `SELECT count(*) FROM otel.logs WHERE CASE WHEN body LIKE ${guess} THEN body ELSE '0' END::INTEGER = 0`,
  `SELECT count(*) FROM otel.spans WHERE CASE WHEN name LIKE ${guess} THEN name ELSE 'true' END::BOOLEAN`,
  `SELECT CASE WHEN name LIKE ${guess} THEN error(name) ELSE name END FROM otel.spans`,
  `SELECT count(*) FILTER (WHERE CASE WHEN name LIKE ${guess} THEN error(name) ELSE true END) FROM otel.spans`,
  `SELECT name FROM otel.spans ORDER BY CASE WHEN name LIKE ${guess} THEN error(name) ELSE name END`,
  `SELECT sum(CASE WHEN service_name LIKE ${guess} THEN service_name ELSE '1' END::INTEGER) FROM otel.metrics`,
  `SELECT max(CASE WHEN attributes['secret'] LIKE ${guess} THEN error(attributes['secret']) ELSE '' END) FROM otel.spans`,
  `SELECT a.name FROM otel.spans a JOIN otel.logs b ON CASE WHEN b.body LIKE ${guess} THEN error(b.body) ELSE true END`,
  `SELECT name FROM otel.spans WHERE name IN (SELECT CASE WHEN body LIKE ${guess} THEN error(body) ELSE body END FROM otel.logs)`,
  `SELECT list_transform(map_values(attributes), lambda v: CASE WHEN v LIKE ${guess} THEN error(v) ELSE v END) FROM otel.spans`,
  `SELECT name FROM otel.spans GROUP BY ALL HAVING CASE WHEN max(name) LIKE ${guess} THEN error(max(name)) ELSE true END`,
  `SELECT name, row_number() OVER (ORDER BY CASE WHEN name LIKE ${guess} THEN error(name) ELSE name END) FROM otel.spans`,
  `WITH RECURSIVE r AS (SELECT name, 1 AS n FROM otel.spans UNION ALL SELECT CASE WHEN name LIKE ${guess} THEN error(name) ELSE name END, n + 1 FROM r WHERE n < 2) SELECT * FROM r`,
  `SELECT CASE WHEN count(*) > 100 THEN error('many') ELSE 'few' END FROM otel.spans`,
  `SELECT CASE WHEN max(duration_nano) > 2000000 THEN error('long') ELSE 'short' END FROM otel.spans`,
  `SELECT CASE WHEN approx_count_distinct(name) > 1 THEN error('several') ELSE 'one' END FROM otel.spans`,
  `SELECT e.name FROM otel.spans s, unnest(s.events) AS t(e) WHERE CASE WHEN e.name LIKE ${guess} THEN error(e.name) ELSE true END`,
];
