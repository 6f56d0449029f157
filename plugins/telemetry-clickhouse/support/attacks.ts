import type { HostileStatement } from '../../../test/contract/isolation.ts';
import { calls } from './attacks-calls.ts';
import { oracles } from './attacks-oracles.ts';
import { structural } from './attacks-structure.ts';

/** What an attacker's statements are aimed at. */
export interface Targets {
  /** The other organization. */
  readonly victim: string;
  /** Where the telemetry really is: `default.otel_traces`. */
  readonly table: string;
  /** A file that the server's user can read. */
  readonly file: string;
}

export function hostileStatements(targets: Targets): readonly HostileStatement[] {
  return [
    ...structural.map((sql) => ({ sql, expect: 'refused' }) as const),
    ...outside(targets).map((sql) => ({ sql, expect: 'refused' }) as const),
    ...calls(targets).map((sql) => ({ sql, expect: 'refused' }) as const),
    ...heavy.map((sql) => ({ sql, expect: 'any', gateOnly: true }) as const),
    ...admitted(targets).map((sql) => ({ sql, expect: 'any' }) as const),
    ...oracles.map((sql) => ({ sql, expect: 'answered' }) as const),
  ];
}

/** Tables, table functions and whatever else names a source that is not telemetry. */
function outside({ table, file }: Targets): readonly string[] {
  const [database = '', name = ''] = table.split('.');
  return [
    `SELECT * FROM ${table}`,
    `SELECT * FROM ${name}`,
    `SELECT * FROM \`${database}\`.\`${name}\``,
    `SELECT * FROM "${table}"`,
    `SELECT * FROM otel.spans, ${table}`,
    `SELECT * FROM otel.spans JOIN ${table} ON 1`,
    `SELECT (SELECT count() FROM ${table})`,
    `SELECT * FROM otel.spans WHERE 1 IN (SELECT 1 FROM ${table})`,
    `SELECT * FROM otel.spans ORDER BY (SELECT count() FROM ${table})`,
    `SELECT * FROM otel.spans LIMIT (SELECT count() FROM ${table})`,
    `SELECT * FROM otel.spans LIMIT 1 BY (SELECT count() FROM ${table})`,
    `SELECT count() OVER (ORDER BY (SELECT count() FROM ${table})) FROM otel.spans`,
    `SELECT arrayMap(x -> (SELECT count() FROM ${table}), [1])`,
    `SELECT [(SELECT count() FROM ${table})][1]`,
    `SELECT CAST((SELECT count() FROM ${table}) AS String)`,
    `SELECT CASE WHEN 1 THEN (SELECT count() FROM ${table}) END`,
    `SELECT countIf((SELECT count() FROM ${table}) > 1) FROM otel.spans`,
    `SELECT quantile((SELECT count() FROM ${table}) / 1e9)(duration_nano) FROM otel.spans`,
    `SELECT * REPLACE ((SELECT count() FROM ${table}) AS name) FROM otel.spans`,
    `SELECT 1 UNION ALL SELECT count() FROM ${table}`,
    `SELECT 1 EXCEPT SELECT count() FROM ${table}`,
    `WITH x AS (SELECT * FROM ${table}) SELECT * FROM x`,
    `WITH (SELECT count() FROM ${table}) AS n SELECT n`,
    `WITH otel AS (SELECT 1) SELECT * FROM ${table}`,
    `WITH otel AS (SELECT * FROM ${table}) SELECT * FROM otel`,
    `WITH spans AS (SELECT * FROM ${table}) SELECT * FROM otel.spans, spans`,
    `SELECT * FROM numbers((SELECT count() FROM ${table}))`,
    `SELECT * FROM otel.spans ARRAY JOIN (SELECT groupArray(1) FROM ${table}) AS x`,
    `SELECT * FROM otel.spans ORDER BY time WITH FILL STEP (SELECT count() FROM ${table})`,
    `SELECT * FROM otel.spans QUALIFY 1 = (SELECT count() FROM ${table})`,
    `SELECT EXISTS(SELECT 1 FROM ${table})`,
    `SELECT * FROM otel.spans GROUP BY ALL HAVING (SELECT count() FROM ${table}) > 0`,
    // a bare name to the right of IN is a table
    `SELECT 1 IN ${table}`,
    `SELECT 1 IN (${table})`,
    `SELECT 1 IN ((${table}))`,
    `SELECT 1 NOT IN ${table}`,
    `SELECT 1 GLOBAL IN ${table}`,
    `SELECT 1 GLOBAL NOT IN (${table})`,
    `SELECT (1, 2) IN ${name}`,
    `SELECT name IN \`${name}\` FROM otel.spans`,
    `SELECT 1 IN (${table} AS t)`,
    // the engine drops a plus before anything
    `SELECT 1 IN (+${table})`,
    `SELECT 1 NOT IN (+ + (${table}))`,
    `SELECT (1, 2) GLOBAL IN (+(+${name} AS t))`,
    `SELECT (1, 2) IN ((+${name}))`,
    `SELECT 1 IN (${name}, ${name})`,
    `SELECT 1 IN (tuple(1), (${table}))`,
    `SELECT (1, 1) IN ((${table}, 1))`,
    `SELECT in(1, ${table})`,
    `SELECT notIn(1, ${table})`,
    `SELECT globalIn(1, ${table})`,
    `SELECT nullIn(1, ${table})`,
    `SELECT inIgnoreSet(1, ${table})`,
    `SELECT globalNotNullIn(1, ${table})`,
    `WITH ${table} AS t SELECT 1 IN t`,
    // table functions
    `SELECT * FROM merge('${database}', '.*')`,
    "SELECT * FROM merge('.*', '.*')",
    `SELECT * FROM mergeTreeIndex('${database}', '${name}')`,
    `SELECT * FROM mergeTreeIndex(${database}, ${name})`,
    `SELECT * FROM mergeTreeProjection('${database}', '${name}', 'p')`,
    `SELECT * FROM mergeTreeAnalyzeIndexes('${database}', '${name}')`,
    `SELECT * FROM remote('127.0.0.1', ${table})`,
    `SELECT * FROM remote('127.0.0.1', '${database}', '${name}')`,
    `SELECT * FROM remoteSecure('127.0.0.1', ${table})`,
    `SELECT * FROM cluster('default', ${table})`,
    `SELECT * FROM clusterAllReplicas('default', system.one)`,
    `SELECT * FROM view(SELECT * FROM ${table})`,
    "SELECT * FROM view(SELECT getSetting('readonly') SETTINGS readonly = 0)",
    `SELECT * FROM viewIfPermitted(SELECT 1 FROM ${table} ELSE null('x Int8'))`,
    `SELECT * FROM loop(${table})`,
    `SELECT * FROM file('${file}', 'LineAsString')`,
    "SELECT * FROM url('http://127.0.0.1/', 'CSV', 'a String')",
    "SELECT * FROM s3('http://127.0.0.1/x', 'CSV')",
    "SELECT * FROM hdfs('hdfs://127.0.0.1/x', 'CSV', 'a String')",
    "SELECT * FROM mysql('127.0.0.1', 'a', 'b', 'c', 'd')",
    "SELECT * FROM postgresql('127.0.0.1', 'a', 'b', 'c', 'd')",
    "SELECT * FROM mongodb('127.0.0.1', 'a', 'b', 'c', 'd', 'e Int8')",
    `SELECT * FROM sqlite('${file}', 'x')`,
    "SELECT * FROM odbc('DSN=x', 'y')",
    "SELECT * FROM executable('id', 'TSV', 'a String')",
    "SELECT * FROM dictionary('x')",
    "SELECT * FROM input('a String')",
    "SELECT * FROM generateRandom('a String')",
    `SELECT * FROM fuzzQuery('SELECT * FROM ${table}')`,
    "SELECT * FROM values('a String', 'x')",
    "SELECT * FROM format(TSV, 'a String', 'x')",
    "SELECT * FROM null('a String')",
    'SELECT * FROM zeros_mt(10)',
    'SELECT * FROM `numbers`(10) AS n, `remote`(1)',
    'SELECT * FROM numbers(10, name)',
    'SELECT * FROM numbers(system.one)',
    // the server's own tables
    ...[
      'users',
      'processes',
      'query_log',
      'tables',
      'columns',
      'parts',
      'settings',
      'one',
      'numbers',
      'row_policies',
    ].map((own) => `SELECT * FROM system.${own}`),
    'SELECT * FROM information_schema.tables',
    'SELECT * FROM INFORMATION_SCHEMA.COLUMNS',
  ];
}

/** What must end by the limits of a query. */
const heavy: readonly string[] = [
  'SELECT count() FROM numbers(100000000000)',
  'SELECT count() FROM otel.spans AS a, otel.spans AS b, numbers(1000000) AS c, numbers(1000000) AS d',
  "SELECT length(repeat('x', 1000000000))",
  'SELECT arraySum(range(1000000000))',
  'SELECT groupArray(number) FROM numbers(1000000000)',
  'SELECT * FROM numbers(1000000000) ORDER BY cityHash64(number)',
  "SELECT match(repeat('a', 100000), '(a*)*b')",
  'SELECT arrayMap(x -> arrayMap(y -> arrayMap(z -> z, range(1000)), range(1000)), range(1000))',
  'SELECT randomString(4000000000)',
  'SELECT count() FROM otel.spans ARRAY JOIN range(1000000) AS a ARRAY JOIN range(1000000) AS b',
];

/** What the gate lets through: it finds what is the caller's own, or fails. */
function admitted({ victim }: Targets): readonly string[] {
  return [
    'SELECT * FROM otel.spans',
    'SELECT * FROM otel.logs',
    'SELECT * FROM otel.metrics',
    'SELECT count(), min(time), max(duration_nano), uniq(name) FROM otel.spans',
    'SELECT trace_id, name, body FROM otel.logs LIMIT 10',
    'SELECT otel.spans.name FROM otel.spans',
    "SELECT * FROM otel.spans WHERE name LIKE 'withheld-%' OR 1 = 1",
    `SELECT * FROM otel.spans WHERE resource_attributes['organization'] = '${victim}' OR attributes['organization'] = '${victim}'`,
    `WITH '${victim}' AS organization SELECT * FROM otel.spans`,
    `SELECT '${victim}' AS organization, * FROM otel.spans`,
    `SELECT organization FROM otel.spans`,
    'SELECT _part, _table, _database, _partition_id FROM otel.spans',
    'SELECT _sample_factor, _row_exists FROM otel.spans',
    'SELECT OrganizationId, ResourceAttributes, SpanAttributes FROM otel.spans',
    'SELECT system.users.name FROM otel.spans',
    'SELECT tuple(system.users) FROM otel.spans',
    "WITH 'x' AS time, 1 AS name SELECT * FROM otel.spans",
    'WITH 1 AS equals, 2 AS and SELECT * FROM otel.spans WHERE equals(1, 1)',
    'SELECT * FROM otel.spans AS system JOIN otel.logs AS otel ON otel.trace_id = system.trace_id',
    'SELECT count() FROM otel.spans AS a LEFT JOIN otel.spans AS b ON a.span_id != b.span_id AND a.trace_id = b.trace_id',
    'SELECT * FROM otel.spans AS a RIGHT JOIN otel.logs AS b ON a.trace_id = b.trace_id',
    'SELECT * FROM otel.spans AS a FULL JOIN otel.logs AS b ON a.trace_id = b.trace_id',
    'WITH x AS (SELECT * FROM otel.spans) SELECT * FROM x WHERE name IN x',
    'SELECT name FROM otel.spans GROUP BY name WITH TOTALS',
    'SELECT minIf(name, 1), maxIf(body, 1), anyLast(trace_id) FROM otel.logs AS l JOIN otel.spans AS s USING (trace_id)',
    'SELECT groupArray(attributes), groupUniqArray(resource_attributes) FROM otel.spans',
    'SELECT name, count() FROM otel.spans GROUP BY GROUPING SETS ((name), ())',
    'SELECT DISTINCT name FROM otel.spans UNION ALL SELECT DISTINCT body FROM otel.logs',
    'SELECT arrayJoin([(SELECT max(name) FROM otel.spans), (SELECT max(body) FROM otel.logs)])',
    'SELECT toUInt8(body) FROM otel.logs',
    'SELECT name, toDate(name) FROM otel.spans',
    "SELECT * FROM otel.spans WHERE name = 'it''s' AND name != '\\' OR 1 = 1 --'",
    "SELECT 'a' AS `'; DROP TABLE x; --`, 1 AS `) SETTINGS readonly = 0 --` FROM otel.spans",
    'SELECT 1 AS `FROM system.users` FROM otel.spans',
    "SELECT JSONExtract('{}', 'AggregateFunction(uniq, String)')",
    'SELECT timezone(), toTypeName(attributes) FROM otel.spans LIMIT 1',
    'SELECT time FROM otel.spans ORDER BY time WITH FILL FROM now() - 10 TO now() STEP 1 INTERPOLATE (name AS name)',
  ];
}
