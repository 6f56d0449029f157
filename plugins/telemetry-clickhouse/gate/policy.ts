import { words, type GatePolicy } from '../../../src/contract/telemetry/index.ts';
import { scalarFunctions } from './functions.ts';

/** Replacements for functions of other dialects and for functions that are not allowed. */
const functionHints: Readonly<Record<string, string>> = {
  percentile: 'Write quantile(0.95)(x).',
  percentile_cont: 'Write quantile(0.95)(x).',
  percentile_disc: 'Write quantileExact(0.95)(x).',
  approx_quantile: 'Write quantile(0.95)(x).',
  approx_percentile: 'Write quantile(0.95)(x).',
  approx_count_distinct: 'Write uniq(x).',
  count_if: 'Write countIf(condition).',
  time_bucket_gapfill: 'Write toStartOfInterval(time, INTERVAL 5 MINUTE) with ORDER BY … WITH FILL.',
  strftime: "Write formatDateTime(time, '%Y-%m-%d %H:%i').",
  to_char: "Write formatDateTime(time, '%Y-%m-%d %H:%i').",
  to_timestamp: 'Write fromUnixTimestamp(n) or parseDateTimeBestEffort(text).',
  epoch: 'Write toUnixTimestamp(time).',
  epoch_ms: 'Write toUnixTimestamp64Milli(time).',
  list_contains: 'Write has(array, x).',
  array_contains: 'Write has(array, x).',
  list_transform: 'Write arrayMap(x -> …, array).',
  list_filter: 'Write arrayFilter(x -> …, array).',
  map_keys: 'Write mapKeys(map).',
  map_values: 'Write mapValues(map).',
  len: 'Write length(x).',
  strpos: 'Write position(text, part).',
  regexp_like: "Write match(text, 'pattern').",
  string_split: "Write splitByString(',', text).",
  split_part: "Write splitByString(',', text)[1].",
  json_extract_string: "Write JSONExtractString(text, 'key').",
  json_value_text: "Write JSONExtractString(text, 'key').",
  try_cast: 'Write toInt64OrNull(text) or toFloat64OrNull(text).',
  safe_cast: 'Write toInt64OrNull(text) or toFloat64OrNull(text).',
  accuratecast: 'Write toInt64OrNull(text), or CAST(x AS Int64).',
  accuratecastornull: 'Write toInt64OrNull(text).',
  in: 'Write x IN (1, 2) or x IN (SELECT …).',
  notin: 'Write x NOT IN (1, 2) or x NOT IN (SELECT …).',
  dictget: 'Dictionaries are not available; join the telemetry tables.',
  joinget: 'Join the telemetry tables with JOIN.',
  columns: 'Write the columns out.',
  sleep: 'Leave it out.',
  throwif: 'Select the condition instead.',
  finalizeaggregation: 'Aggregate with the plain function: sum(x), uniq(x).',
};

const aggregates = `
  analysisOfVariance anova any any_respect_nulls any_value any_value_respect_nulls anyHeavy anyLast
  anyLast_respect_nulls anyLastRespectNulls anyRespectNulls anyValueRespectNulls approx_top_count approx_top_k
  approx_top_sum argAndMax argAndMin argMax argMin array_agg avg avgWeighted BIT_AND BIT_OR BIT_XOR
  boundingRatio categoricalInformationValue contingency corr corrStable count COVAR_POP COVAR_SAMP covarPop
  covarPopMatrix covarPopStable covarSamp covarSampMatrix covarSampStable cramersV cramersVBiasCorrected
  deltaSum deltaSumTimestamp distinctJSONPaths distinctJSONPathsAndTypes entropy exponentialMovingAverage
  exponentialTimeDecayedAvg exponentialTimeDecayedCount exponentialTimeDecayedMax exponentialTimeDecayedSum
  first_value first_value_respect_nulls firstValueRespectNulls group_concat groupArray groupArrayInsertAt
  groupArrayIntersect groupArrayLast groupArrayMovingAvg groupArrayMovingSum groupArraySample groupArraySorted
  groupBitAnd groupBitOr groupBitXor groupConcat groupUniqArray histogram intervalLengthSum
  kolmogorovSmirnovTest kurtPop kurtSamp last_value last_value_respect_nulls lastValueRespectNulls lttb
  mannWhitneyUTest max max_by maxIntersections maxIntersectionsPosition maxMappedArrays meanZTest median
  medianBFloat16 medianBFloat16Weighted medianDD medianDeterministic medianExact medianExactHigh medianExactLow
  medianExactWeighted medianExactWeightedInterpolated medianGK medianInterpolatedWeighted medianTDigest
  medianTDigestWeighted medianTiming medianTimingWeighted min min_by minMappedArrays nonNegativeDerivative
  quantile quantileBFloat16 quantileBFloat16Weighted quantileDD quantileDeterministic quantileExact
  quantileExactExclusive quantileExactHigh quantileExactInclusive quantileExactLow quantileExactWeighted
  quantileExactWeightedInterpolated quantileGK quantileInterpolatedWeighted quantilePrometheusHistogram
  quantiles quantilesBFloat16 quantilesBFloat16Weighted quantilesDD quantilesDeterministic quantilesExact
  quantilesExactExclusive quantilesExactHigh quantilesExactInclusive quantilesExactLow quantilesExactWeighted
  quantilesExactWeightedInterpolated quantilesGK quantilesInterpolatedWeighted quantilesPrometheusHistogram
  quantilesTDigest quantilesTDigestWeighted quantilesTiming quantilesTimingWeighted quantileTDigest
  quantileTDigestWeighted quantileTiming quantileTimingWeighted rankCorr retention sequenceCount sequenceMatch
  sequenceMatchEvents simpleLinearRegression singleValueOrNull skewPop skewSamp sparkBar sparkbar STD STDDEV
  STDDEV_POP STDDEV_SAMP stddevPop stddevPopStable stddevSamp stddevSampStable string_agg studentTTest
  studentTTestOneSample sum sumCount sumKahan sumMapFiltered sumMapFilteredWithOverflow sumMappedArrays
  sumMapWithOverflow sumWithOverflow theilsU topK topKWeighted uniq uniqCombined uniqCombined64 uniqExact
  uniqHLL12 uniqUpTo VAR_POP VAR_SAMP varPop varPopStable varSamp varSampStable welchTTest windowFunnel
`;

/** `countIf`, `sumArray`, `uniqForEach`, …: every aggregate function has them. States (…State, …Merge) are left out. */
const suffixes =
  words(`If Array ArrayIf Map MapIf ForEach ForEachIf Distinct DistinctIf OrNull OrDefault OrNullIf OrDefaultIf
  IfOrNull IfOrDefault Resample ArgMin ArgMax`);

const aggregateFunctions: readonly string[] = words(aggregates).flatMap((name) =>
  ['', ...suffixes].map((suffix) => `${name}${suffix}`),
);

/** Of casts. Missing: states of aggregations, which a caller could forge, and types that hold any other. */
const types = `array bfloat16 bigint bool boolean char date date32 datetime datetime32 datetime64 decimal decimal32 decimal64
  decimal128 decimal256 double fixedstring float float32 float64 int int8 int16 int32 int64 int128 int256 integer
  intervalday intervalhour intervalmicrosecond intervalmillisecond intervalminute intervalmonth intervalnanosecond
  intervalquarter intervalsecond intervalweek intervalyear ipv4 ipv6 json lowcardinality map nullable numeric real
  signed smallint string text time time64 timestamp tinyint tuple uint8 uint16 uint32 uint64 uint128 uint256 unsigned
  uuid varchar`;

/** What ClickHouse lets through here. */
export const policy: GatePolicy = {
  dialect: 'clickhouse',
  title: 'ClickHouse',
  functions: new Set([...scalarFunctions, ...aggregateFunctions]),
  functionNamesAreCaseSensitive: true,
  functionHints,
  types: new Set(words(types)),
  tableFunctions: new Set(['numbers', 'generate_series', 'generateSeries', 'zeros']),
};
