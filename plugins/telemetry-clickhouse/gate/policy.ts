import { byNames, words, type GatePolicy } from '../../../src/contract/telemetry/index.ts';
import { scalarFunctions } from './functions.ts';

/** Replacements for functions of other dialects and for functions that are not allowed. */
const functionHints = byNames(
  Object.entries({
    'Write quantile(0.95)(x).': 'percentile percentile_cont approx_quantile approx_percentile',
    'Write quantileExact(0.95)(x).': 'percentile_disc',
    'Write uniq(x).': 'approx_count_distinct',
    'Write countIf(condition).': 'count_if',
    'Write toStartOfInterval(time, INTERVAL 5 MINUTE) with ORDER BY … WITH FILL.': 'time_bucket_gapfill',
    "Write formatDateTime(time, '%Y-%m-%d %H:%i').": 'strftime to_char',
    'Write fromUnixTimestamp(n) or parseDateTimeBestEffort(text).': 'to_timestamp',
    'Write toUnixTimestamp(time).': 'epoch',
    'Write toUnixTimestamp64Milli(time).': 'epoch_ms',
    'Write has(array, x).': 'list_contains array_contains',
    'Write arrayMap(x -> …, array).': 'list_transform',
    'Write arrayFilter(x -> …, array).': 'list_filter',
    'Write mapKeys(map).': 'map_keys',
    'Write mapValues(map).': 'map_values',
    'Write length(x).': 'len',
    'Write position(text, part).': 'strpos',
    "Write match(text, 'pattern').": 'regexp_like',
    "Write splitByString(',', text).": 'string_split',
    "Write splitByString(',', text)[1].": 'split_part',
    "Write JSONExtractString(text, 'key').": 'json_extract_string json_value_text',
    'Write toInt64OrNull(text) or toFloat64OrNull(text).': 'try_cast safe_cast',
    'Write toInt64OrNull(text), or CAST(x AS Int64).': 'accuratecast',
    'Write toInt64OrNull(text).': 'accuratecastornull',
    'Write x IN (1, 2) or x IN (SELECT …).': 'in',
    'Write x NOT IN (1, 2) or x NOT IN (SELECT …).': 'notin',
    'Dictionaries are not available; join the telemetry tables.': 'dictget',
    'Join the telemetry tables with JOIN.': 'joinget',
    'Write the columns out.': 'columns',
    'Leave it out.': 'sleep',
    'Select the condition instead.': 'throwif',
    'Aggregate with the plain function: sum(x), uniq(x).': 'finalizeaggregation',
  }),
);

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

export const policy: GatePolicy = {
  dialect: 'clickhouse',
  title: 'ClickHouse',
  functions: new Set([...scalarFunctions, ...aggregateFunctions]),
  functionNamesAreCaseSensitive: true,
  functionHints,
  types: new Set(words(types)),
  tableFunctions: new Set(['numbers', 'generate_series', 'generateSeries', 'zeros']),
};
