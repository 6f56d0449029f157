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
const suffixes = [
  '',
  'If',
  'Array',
  'ArrayIf',
  'Map',
  'MapIf',
  'ForEach',
  'ForEachIf',
  'Distinct',
  'DistinctIf',
  'OrNull',
  'OrDefault',
  'OrNullIf',
  'OrDefaultIf',
  'IfOrNull',
  'IfOrDefault',
  'Resample',
  'ArgMin',
  'ArgMax',
];

export const aggregateFunctions: readonly string[] = aggregates
  .trim()
  .split(/\s+/)
  .flatMap((name) => suffixes.map((suffix) => `${name}${suffix}`));
