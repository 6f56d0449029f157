/** Functions that read something else than their arguments, or take SQL as text. */
export function calls({ table, file }: Targets): readonly string[] {
  const [database = '', name = ''] = table.split('.');
  return [
    `SELECT file('${file}')`,
    `SELECT dictGet('x', 'y', 1)`,
    "SELECT dictGetString('x', 'y', toUInt64(1))",
    "SELECT dictHas('x', 1)",
    `SELECT joinGet('${table}', 'Body', 1)`,
    `SELECT joinGet(${table}, 'Body', 1)`,
    `SELECT hasColumnInTable('${database}', '${name}', 'Body')`,
    "SELECT getSetting('SQL_org')",
    "SELECT getServerSetting('max_connections')",
    "SELECT getMacro('shard')",
    "SELECT getServerPort('tcp_port')",
    "SELECT getClientHTTPHeader('Authorization')",
    'SELECT currentUser(), hostName(), serverUUID()',
    'SELECT currentDatabase()',
    'SELECT current_user()',
    'SELECT initialQueryID()',
    'SELECT queryID()',
    'SELECT version()',
    'SELECT connectionId()',
    'SELECT currentRoles(), currentProfiles()',
    "SELECT catboostEvaluate('/x', 1)",
    'SELECT evalMLMethod(1, 2)',
    "SELECT naiveBayesClassifier('x', 'y')",
    'SELECT sleep(3)',
    'SELECT sleepEachRow(1) FROM otel.spans',
    "SELECT throwIf(name LIKE 'withheld-%', name) FROM otel.spans",
    "SELECT addressToLine(1), addressToSymbol(1), demangle('x')",
    "SELECT logTrace('x')",
    "SELECT formatQuery('SELECT 1')",
    `SELECT fuzzQuery('SELECT * FROM ${table}')`,
    "SELECT normalizedQueryHash('SELECT 1')",
    "SELECT generateSerialID('x')",
    "SELECT accurateCast('x', 'AggregateFunction(uniq, String)')",
    "SELECT reinterpret(unhex('00'), 'AggregateFunction(uniq, String)')",
    "SELECT finalizeAggregation(CAST(unhex('00'), 'AggregateFunction(uniq, String)'))",
    "SELECT uniqMerge(unhex('00'))",
    "SELECT initializeAggregation('uniqState', 1)",
    // functions named by text
    "SELECT arrayReduce('uniqState', [1])",
    "SELECT arrayReduce('uniqMerge', [arrayReduce('uniqState', [1])])",
    "SELECT arrayReduce('aggThrow(1.0)', [1])",
    "SELECT arrayReduce(concat('aggThrow', '(1.0)'), [1])",
    'SELECT arrayReduce(name, [1]) FROM otel.spans',
    "SELECT arrayReduceInRanges('sumState', [(1, 1)], [1])",
    'SELECT bitmapCardinality(bitmapBuild([1, 2]))',
    "SELECT formatRow('CSV', 1)",
    'SELECT showCertificate()',
    'SELECT filesystemAvailable(), uptime(), tcpPort(), FQDN(), buildId()',
    "SELECT aiGenerate('x', 'y')",
    'SELECT regionToName(1)',
    'SELECT blockSerializedSize(1), shardNum()',
    'SELECT transactionID()',
    "SELECT mergeTreePartInfo('x')",
    "SELECT defaultValueOfTypeName('AggregateFunction(uniq, String)')",
    "SELECT _CAST(1, 'String')",
    '__actionName(1)',
    "SELECT __getScalar('x')",
    'SELECT `currentUser`()',
    'SELECT "getSetting"(\'readonly\')',
    'SELECT system.currentUser()',
    'SELECT name FROM otel.spans WHERE view(SELECT 1)',
    "SELECT nested(['a'], [1])",
    'SELECT indexHint(name = 1) FROM otel.spans',
  ];
}

/** What an attacker's statements are aimed at. */
export interface Targets {
  /** The other organization. */
  readonly victim: string;
  /** Where the telemetry really is: `default.otel_traces`. */
  readonly table: string;
  /** A file that the server's user can read. */
  readonly file: string;
}
