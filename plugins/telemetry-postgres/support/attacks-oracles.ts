import { withheldPrefix, type HostileStatement } from '../../../test/contract/index.ts';

const isWithheld = (column: string) => `${column} LIKE '${withheldPrefix}%'`;

/** Conditions that fail at the victim's rows, with their text in the engine's message, and hold at others. */
const leaky = (column: string): readonly string[] => [
  `CASE WHEN ${isWithheld(column)} THEN ${column}::int > 0 ELSE true END`,
  `CASE WHEN ${isWithheld(column)} THEN ${column}::bool ELSE true END`,
  `CASE WHEN ${isWithheld(column)} THEN ${column}::timestamptz > now() ELSE true END`,
  `CASE WHEN ${isWithheld(column)} THEN ${column}::jsonb ? 'a' ELSE true END`,
  `CASE WHEN ${isWithheld(column)} THEN ${column}::uuid IS NOT NULL ELSE true END`,
  `CASE WHEN ${isWithheld(column)} THEN ${column}::inet IS NOT NULL ELSE true END`,
  `CASE WHEN ${isWithheld(column)} THEN ${column}::jsonpath IS NOT NULL ELSE true END`,
  `CASE WHEN ${isWithheld(column)} THEN to_number(${column}, '9') > 0 ELSE true END`,
  `CASE WHEN ${isWithheld(column)} THEN to_date(${column}, 'YYYY') > now() ELSE true END`,
  `CASE WHEN ${isWithheld(column)} THEN date_trunc(${column}, now()) > now() ELSE true END`,
  `CASE WHEN ${isWithheld(column)} THEN (now() AT TIME ZONE ${column}) IS NULL ELSE true END`,
  `CASE WHEN ${isWithheld(column)} THEN encode('x', ${column}) = '' ELSE true END`,
  `CASE WHEN ${isWithheld(column)} THEN decode(${column}, 'hex') = '' ELSE true END`,
  `CASE WHEN ${isWithheld(column)} THEN 'x' ~ ('(' || ${column}) ELSE true END`,
];

/** The planner may run the caller's predicate before the boundary's, if nothing keeps it from that. */
export function oracles(): readonly HostileStatement[] {
  const answered = [
    ...leaky('body').map((condition) => `SELECT count(*) FROM otel.logs WHERE ${condition}`),
    ...leaky('name')
      .slice(0, 4)
      .map((condition) => `SELECT count(*) FROM otel.spans WHERE ${condition}`),
    ...leaky("(attributes->>'secret')")
      .slice(0, 4)
      .map((condition) => `SELECT count(*) FROM otel.metrics WHERE ${condition}`),
    ...leaky('s.service_name')
      .slice(0, 3)
      .map(
        (condition) => `SELECT count(*) FROM otel.spans s JOIN otel.logs l ON l.trace_id = s.trace_id AND ${condition}`,
      ),
    ...leaky('body')
      .slice(0, 3)
      .map((condition) => `SELECT body FROM otel.logs ORDER BY ${condition}`),
    ...leaky('body')
      .slice(0, 2)
      .map((condition) => `SELECT count(*) FILTER (WHERE ${condition}) FROM otel.logs`),
    ...leaky('body')
      .slice(0, 2)
      .map(
        (condition) => `WITH l AS NOT MATERIALIZED (SELECT * FROM otel.logs) SELECT count(*) FROM l WHERE ${condition}`,
      ),
    `SELECT count(*) FROM otel.spans WHERE 1 / (CASE WHEN ${isWithheld('name')} THEN 0 ELSE 1 END) = 1`,
    `SELECT count(*) FROM otel.spans WHERE sqrt(CASE WHEN ${isWithheld('name')} THEN -1 ELSE 1 END) = 1`,
    `SELECT count(*) FROM otel.spans WHERE (ARRAY[1, 2])[CASE WHEN duration_nano = 7318052946 THEN duration_nano ELSE 1 END] = 1`,
    'SELECT count(*) FROM otel.spans WHERE CASE WHEN duration_nano > 7000000000 THEN duration_nano::int2 > 0 ELSE true END',
    'SELECT count(*) FROM otel.metrics WHERE CASE WHEN value > 700000 THEN (value * 1e6)::int4 > 0 ELSE true END',
    `SELECT name FROM otel.spans s WHERE NOT EXISTS (SELECT 1 FROM otel.logs l WHERE CASE WHEN ${isWithheld('l.body')} THEN l.body::int > 0 ELSE false END)`,
  ];
  return answered.map((sql) => ({ sql, expect: 'answered' }));
}

/** What the gate has no reason to refuse. */
export function admitted(): readonly HostileStatement[] {
  const statements = [
    'SELECT * FROM otel.spans',
    'SELECT * FROM otel.logs ORDER BY body DESC',
    'SELECT count(*) FROM otel.spans',
    'SELECT count(*) FROM otel.metrics',
    'SELECT max(duration_nano), min(duration_nano) FROM otel.spans',
    'SELECT max(value), sum(value) FROM otel.metrics',
    "SELECT body FROM otel.logs WHERE body LIKE 'withheld-%'",
    "SELECT body FROM otel.logs WHERE true OR service_name = 'x'",
    "SELECT body FROM otel.logs WHERE service_name = 'x' OR 1 = 1 -- ) AND organization = 'mine'",
    'SELECT name FROM otel.spans UNION SELECT name FROM otel.metrics UNION SELECT body FROM otel.logs',
    'SELECT s.name, l.body FROM otel.spans s FULL JOIN otel.logs l ON false',
    'SELECT string_agg(DISTINCT service_name, $$,$$) FROM otel.spans',
    'SELECT to_jsonb(s) FROM otel.spans s',
    'SELECT s FROM otel.spans s',
    'SELECT (s).name, (s).* FROM otel.spans s',
    'SELECT row_to_json(l) FROM otel.logs AS l',
    'SELECT s::text FROM otel.spans s',
    'SELECT organization FROM otel.spans',
    'SELECT s.organization, s.organization_id, s.tenant FROM otel.spans s',
    "SELECT to_jsonb(s)->>'organization' FROM otel.spans s",
    'SELECT * FROM otel.spans NATURAL JOIN otel.logs',
    'TABLE otel.logs',
    'SELECT body::int FROM otel.logs',
    'SELECT name::bool FROM otel.spans',
    'SELECT name FROM otel.spans WHERE name::jsonb IS NOT NULL',
    'SELECT jsonb_object_agg(name, body) FROM otel.spans JOIN otel.logs USING (trace_id)',
    'SELECT jsonb_path_query(attributes, \'$.** ? (@ like_regex "withheld")\') FROM otel.spans',
    "SELECT jsonb_path_query_array(events, 'strict $[*].nothing.datetime()') FROM otel.spans",
    "SELECT jsonb_object_keys(attributes) FROM otel.spans WHERE jsonb_path_exists(attributes, '$.secret.double()')",
    'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r, otel.spans',
    "SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' ~ '^(a+)+$' AND name ~ '(.*)(.*)(.*)(.*)(.*)x\\1' FROM otel.spans",
    'SELECT count(*) FROM otel.spans a, otel.spans b, otel.logs c, otel.logs d, generate_series(1, 1000000) g',
    "SELECT format('%500000s', name) FROM otel.spans",
    'SELECT array_agg(g) FROM generate_series(1, 1000000) g',
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_nano) FROM otel.spans WHERE kind = 'SERVER'",
    'SELECT otel.spans.name FROM otel.spans, LATERAL (SELECT otel.spans.name AS n FROM otel.logs spans) x',
    "SELECT otel.name FROM otel.spans AS otel WHERE otel.name LIKE 'withheld-%'",
    'SELECT name FROM otel.spans WHERE service_name COLLATE "C" >= \'withheld-\' ORDER BY 1',
    'SELECT "name" FROM "otel"."spans" AS "S" WHERE "S"."name" >= U&\'\\0077ithheld\'',
    "SELECT E'\\'' || name || E'\\' OR 1=1 --' FROM otel.spans",
    'SELECT $x$ FROM otel_data.spans $x$ || name FROM otel.spans',
    "SELECT name FROM otel.spans /* ' */ WHERE name <> '--' -- '",
    "SELECT 'a' -- x\n 'b' || name FROM otel.spans",
  ];
  return statements.map((sql) => ({ sql, expect: 'any' }));
}
