import { words } from '../../../src/contract/telemetry/index.ts';

/*
 * What a statement may call: functions of their arguments alone. Left out on purpose: whatever reads a table, a dictionary, a
 * file, a setting, the session or the server (dictGet, joinGet, file, getSetting, currentUser, hostName, version), whatever
 * waits or fails on demand (sleep, throwIf), asks a model, formats a row or a query, makes a value of a type that its text
 * names (accurateCast), or reads aggregation states, which a caller could forge (…Merge, finalizeAggregation, bitmaps). `in`
 * and its kin are missing since they take a bare name for a table.
 */
const scalar = {
  operators: `
    abs and avg2 bitAnd bitCount bitHammingDistance bitNot bitOr bitRotateLeft bitRotateRight bitShiftLeft
    bitShiftRight bitSlice bitTest bitTestAll bitTestAny bitXor byteSwap divide divideDecimal divideOrNull
    equals gcd greater greaterOrEquals ifNotFinite intDiv intDivOrNull intDivOrZero isDistinctFrom isFinite
    isInfinite isNaN isNotDistinctFrom lcm less lessOrEquals max2 midpoint min2 minus modulo moduloLegacy
    moduloOrNull moduloOrZero multiply multiplyDecimal negate not notEquals or plus positiveModulo
    positiveModuloOrNull sqr xor
  `,
  mathematical: `
    acos acosh asin asinh atan atan2 atanh cbrt ceil cos cosh cosineDistance degrees e erf erfc exp exp10 exp2
    factorial financialInternalRateOfReturn financialInternalRateOfReturnExtended financialNetPresentValue
    financialNetPresentValueExtended floor hypot intExp10 intExp2 isPrime isProbablePrime L1Distance L1Norm
    L1Normalize L2Distance L2Norm L2Normalize L2SquaredDistance L2SquaredNorm lgamma LinfDistance LinfNorm
    LinfNormalize log log10 log1p log2 LpDistance LpNorm LpNormalize pi pow proportionsZTest radians round
    roundAge roundBankers roundDown roundDuration roundToExp2 sigmoid sign sin sinh sqrt tan tanh tgamma trunc
    widthBucket
  `,
  conditional: `
    assumeNotNull clamp coalesce firstNonDefault greatest if ifNull isNotNull isNull isNullable isZeroOrNull
    least multiIf nullIf toNullable
  `,
  conversion: `
    DATE fromUnixTimestamp64Micro fromUnixTimestamp64Milli fromUnixTimestamp64Nano fromUnixTimestamp64Second
    reinterpretAsDate reinterpretAsDateTime reinterpretAsFixedString reinterpretAsFloat32
    reinterpretAsFloat64 reinterpretAsInt128 reinterpretAsInt16 reinterpretAsInt256 reinterpretAsInt32
    reinterpretAsInt64 reinterpretAsInt8 reinterpretAsString reinterpretAsUInt128 reinterpretAsUInt16
    reinterpretAsUInt256 reinterpretAsUInt32 reinterpretAsUInt64 reinterpretAsUInt8 reinterpretAsUUID toBool
    toDateTime32 toDecimalString toFixedString toInterval toIntervalDay toIntervalHour toIntervalMicrosecond
    toIntervalMillisecond toIntervalMinute toIntervalMonth toIntervalNanosecond toIntervalQuarter
    toIntervalSecond toIntervalWeek toIntervalYear toLowCardinality toString toStringCutToZero
    toUnixTimestamp64Micro toUnixTimestamp64Milli toUnixTimestamp64Nano toUnixTimestamp64Second toUUID
    toUUIDOrZero
  `,
  time: `
    addDate addDays addHours addInterval addMicroseconds addMilliseconds addMinutes addMonths addNanoseconds
    addQuarters addSeconds addTupleOfIntervals addWeeks addYears age changeDay changeHour changeMinute
    changeMonth changeSecond changeYear date_add date_sub date_trunc dateAdd dateDiff dateName dateSub
    dateTime64ToSnowflakeID dateTimeToSnowflakeID dateTimeToUUIDv7 dateTrunc formatDateTime
    formatDateTimeInJodaSyntax fromDaysSinceYearZero fromDaysSinceYearZero32 fromModifiedJulianDay
    fromModifiedJulianDayOrNull fromUnixTimestamp fromUnixTimestampInJodaSyntax fromUTCTimestamp
    generateSnowflakeID generateUUIDv4 generateUUIDv7 hop hopEnd hopStart localtime makeDate makeDate32
    makeDateTime makeDateTime64 monthName now now64 nowInBlock nowInBlock64 snowflakeIDToDateTime
    snowflakeIDToDateTime64 subDate subtractDays subtractHours subtractInterval subtractMicroseconds
    subtractMilliseconds subtractMinutes subtractMonths subtractNanoseconds subtractQuarters subtractSeconds
    subtractTupleOfIntervals subtractWeeks subtractYears timeDiff timeSlot timeSlots timestamp timestamp_add
    timestamp_sub timestampAdd timestampSub timezone timezoneOf timezoneOffset today toDayOfMonth toDayOfWeek
    toDayOfYear toDaysInMonth toDaysSinceYearZero toHour toISOWeek toISOYear toLastDayOfMonth toLastDayOfWeek
    toMicrosecond toMillisecond toMinute toModifiedJulianDay toModifiedJulianDayOrNull toMonday toMonth
    toMonthNumSinceEpoch toNanosecond toQuarter toRelativeDayNum toRelativeHourNum toRelativeMinuteNum
    toRelativeMonthNum toRelativeQuarterNum toRelativeSecondNum toRelativeWeekNum toRelativeYearNum toSecond
    toStartOfDay toStartOfFifteenMinutes toStartOfFiveMinutes toStartOfHour toStartOfInterval toStartOfISOYear
    toStartOfMicrosecond toStartOfMillisecond toStartOfMinute toStartOfMonth toStartOfNanosecond
    toStartOfQuarter toStartOfSecond toStartOfTenMinutes toStartOfWeek toStartOfYear toTimeWithFixedDate
    toTimezone toUnixTimestamp toUTCTimestamp toUUIDOrDefault toUUIDOrNull toWeek toYear toYearNumSinceEpoch
    toYearWeek toYYYYMM toYYYYMMDD toYYYYMMDDhhmmss tumble tumbleEnd tumbleStart UTCTimestamp UUIDNumToString
    UUIDStringToNum UUIDToNum UUIDv7ToDateTime windowID yesterday YYYYMMDDhhmmssToDateTime
    YYYYMMDDhhmmssToDateTime64 YYYYMMDDToDate YYYYMMDDToDate32
  `,
  text: `
    alphaTokens appendTrailingCharIfAbsent arrayStringConcat ascii base32Decode base32Encode base58Decode
    base58Encode base64Decode base64Encode base64URLDecode base64URLEncode basename bin bitmaskToArray
    bitmaskToList bitPositionsToArray byteHammingDistance caseFoldUTF8 char compareSubstrings concat
    concatAssumeInjective concatWithSeparator concatWithSeparatorAssumeInjective conv convertCharset
    countMatches countMatchesCaseInsensitive countSubstrings countSubstringsCaseInsensitive
    countSubstringsCaseInsensitiveUTF8 CRC32 CRC32IEEE CRC64 damerauLevenshteinDistance decodeHTMLComponent
    decodeXMLComponent editDistance editDistanceUTF8 encodeXMLComponent endsWith endsWithCaseInsensitive
    endsWithCaseInsensitiveUTF8 endsWithUTF8 extract extractAll extractAllGroupsHorizontal
    extractAllGroupsVertical extractGroups extractTextFromHTML firstLine format hasAllTokens hasAnyTokens
    hasPhrase hasSubsequence hasSubsequenceCaseInsensitive hasSubsequenceCaseInsensitiveUTF8 hasSubsequenceUTF8
    hasToken hasTokenCaseInsensitive hasTokenCaseInsensitiveOrNull hasTokenOrNull hex highlight hilbertDecode
    hilbertEncode ilike initcap initcapUTF8 isValidASCII isValidUTF8 jaroSimilarity jaroWinklerSimilarity left
    leftPad leftPadUTF8 leftUTF8 lengthUTF8 like locate lower lowerUTF8 match mortonDecode mortonEncode
    multiFuzzyMatchAllIndices multiFuzzyMatchAny multiFuzzyMatchAnyIndex multiMatchAllIndices multiMatchAny
    multiMatchAnyIndex multiSearchAllPositions multiSearchAllPositionsCaseInsensitive
    multiSearchAllPositionsCaseInsensitiveUTF8 multiSearchAllPositionsUTF8 multiSearchAny
    multiSearchAnyCaseInsensitive multiSearchAnyCaseInsensitiveUTF8 multiSearchAnyUTF8 multiSearchFirstIndex
    multiSearchFirstIndexCaseInsensitive multiSearchFirstIndexCaseInsensitiveUTF8 multiSearchFirstIndexUTF8
    multiSearchFirstPosition multiSearchFirstPositionCaseInsensitive multiSearchFirstPositionCaseInsensitiveUTF8
    multiSearchFirstPositionUTF8 naturalSortKey ngramDistance ngramDistanceCaseInsensitive
    ngramDistanceCaseInsensitiveUTF8 ngramDistanceUTF8 ngrams ngramSearch ngramSearchCaseInsensitive
    ngramSearchCaseInsensitiveUTF8 ngramSearchUTF8 normalizeUTF8NFC normalizeUTF8NFD normalizeUTF8NFKC
    normalizeUTF8NFKCCasefold normalizeUTF8NFKD notILike notLike overlay overlayUTF8 position
    positionCaseInsensitive positionCaseInsensitiveUTF8 positionUTF8 printf regexpExtract regexpPosition
    regexpQuoteMeta removeDiacriticsUTF8 repeat replaceAll replaceOne replaceRegexpAll replaceRegexpOne
    reverseBySeparator reverseUTF8 right rightPad rightPadUTF8 rightUTF8 soundex space sparseGrams
    sparseGramsHashes sparseGramsHashesUTF8 sparseGramsUTF8 splitByChar splitByNonAlpha splitByRegexp
    splitByString splitByWhitespace sqidDecode sqidEncode startsWith startsWithCaseInsensitive
    startsWithCaseInsensitiveUTF8 startsWithUTF8 stringBytesEntropy stringBytesUniq stringJaccardIndex
    stringJaccardIndexUTF8 substring substringIndex substringIndexUTF8 substringUTF8 tokens tokensForLikePattern
    toValidUTF8 translate translateUTF8 trimBoth trimLeft trimRight tryBase32Decode tryBase58Decode
    tryBase64Decode tryBase64URLDecode unbin unhex upper upperUTF8
  `,
  json: `
    dynamicElement dynamicType getSubcolumn isDynamicElementInSharedData isValidJSON JSON_EXISTS JSON_QUERY
    JSON_VALUE JSONAllPaths JSONAllPathsWithTypes JSONAllValues JSONArrayLength JSONDynamicPaths
    JSONDynamicPathsWithTypes JSONExtract JSONExtractArrayRaw JSONExtractArrayRawCaseInsensitive JSONExtractBool
    JSONExtractBoolCaseInsensitive JSONExtractCaseInsensitive JSONExtractFloat JSONExtractFloatCaseInsensitive
    JSONExtractInt JSONExtractIntCaseInsensitive JSONExtractKeys JSONExtractKeysAndValues
    JSONExtractKeysAndValuesCaseInsensitive JSONExtractKeysAndValuesRaw
    JSONExtractKeysAndValuesRawCaseInsensitive JSONExtractKeysCaseInsensitive JSONExtractRaw
    JSONExtractRawCaseInsensitive JSONExtractString JSONExtractStringCaseInsensitive JSONExtractUInt
    JSONExtractUIntCaseInsensitive JSONHas JSONKey JSONLength JSONMergePatch JSONSharedDataPaths
    JSONSharedDataPathsWithTypes JSONType prettyPrintJSON simpleJSONExtractBool simpleJSONExtractFloat
    simpleJSONExtractInt simpleJSONExtractRaw simpleJSONExtractString simpleJSONExtractUInt simpleJSONHas
    toJSONString variantElement variantType
  `,
  arrays: `
    array arrayAll arrayAUCPR arrayAutocorrelation arrayAvg arrayBottomK arrayCompact arrayConcat arrayCount
    arrayCumSum arrayCumSumNonNegative arrayDifference arrayDistinct arrayDotProduct arrayElement
    arrayElementOrNull arrayEnumerate arrayEnumerateDense arrayEnumerateDenseRanked arrayEnumerateUniq
    arrayEnumerateUniqRanked arrayExcept arrayExists arrayFill arrayFilter arrayFirst arrayFirstIndex
    arrayFirstOrNull arrayFlatten arrayFold arrayIntersect arrayJaccardIndex arrayJoin arrayLast arrayLastIndex
    arrayLastOrNull arrayLevenshteinDistance arrayLevenshteinDistanceWeighted arrayMap arrayMax arrayMin
    arrayNormalizedGini arrayPartialReverseSort arrayPartialShuffle arrayPartialSort arrayPopBack arrayPopFront
    arrayProduct arrayPushBack arrayPushFront arrayReduce arrayReduceInRanges arrayRemove arrayResize
    arrayReverse arrayReverseFill arrayReverseSort arrayReverseSplit arrayROCAUC arrayRotateLeft
    arrayRotateRight arrayShiftLeft arrayShiftRight arrayShingles arrayShuffle arraySimilarity arraySlice
    arraySort arraySplit arraySum arraySymmetricDifference arrayTopK arrayTranspose arrayUnion arrayUniq
    arrayWithConstant arrayZip arrayZipUnaligned countEqual empty emptyArrayDate emptyArrayDateTime
    emptyArrayFloat32 emptyArrayFloat64 emptyArrayInt16 emptyArrayInt32 emptyArrayInt64 emptyArrayInt8
    emptyArrayString emptyArrayToSingle emptyArrayUInt16 emptyArrayUInt32 emptyArrayUInt64 emptyArrayUInt8 has
    hasAll hasAny hasSubstr indexOf indexOfAssumeSorted length notEmpty range replicate reverse
  `,
  tuplesAndMaps: `
    dotProduct extractKeyValuePairs extractKeyValuePairsWithEscaping flattenTuple map mapAdd mapAll mapApply
    mapConcat mapContainsKey mapContainsKeyLike mapContainsValue mapContainsValueLike mapExists
    mapExtractKeyLike mapExtractValueLike mapFilter mapFromArrays mapKeys mapPartialReverseSort mapPartialSort
    mapPopulateSeries mapReverseSort mapSort mapSubtract mapUpdate mapValues tuple tupleConcat tupleDivide
    tupleDivideByNumber tupleElement tupleHammingDistance tupleIntDiv tupleIntDivByNumber tupleIntDivOrZero
    tupleIntDivOrZeroByNumber tupleMinus tupleModulo tupleModuloByNumber tupleMultiply tupleMultiplyByNumber
    tupleNames tupleNegate tuplePlus tuplePositiveModuloByNumber tupleToNameValuePairs
  `,
  addresses: `
    cutFragment cutIPv6 cutQueryString cutQueryStringAndFragment cutToFirstSignificantSubdomain
    cutToFirstSignificantSubdomainCustom cutToFirstSignificantSubdomainCustomRFC
    cutToFirstSignificantSubdomainCustomWithWWW cutToFirstSignificantSubdomainCustomWithWWWRFC
    cutToFirstSignificantSubdomainRFC cutToFirstSignificantSubdomainWithWWW
    cutToFirstSignificantSubdomainWithWWWRFC cutURLParameter cutWWW decodeURLComponent decodeURLFormComponent
    domain domainRFC domainWithoutWWW domainWithoutWWWRFC encodeURLComponent encodeURLFormComponent
    extractURLParameter extractURLParameterNames extractURLParameters firstSignificantSubdomain
    firstSignificantSubdomainCustom firstSignificantSubdomainCustomRFC firstSignificantSubdomainRFC fragment
    IPv4CIDRToRange IPv4NumToString IPv4NumToStringClassC IPv4StringToNum IPv4StringToNumOrDefault
    IPv4StringToNumOrNull IPv4ToIPv6 IPv6CIDRToRange IPv6NumToString IPv6StringToNum IPv6StringToNumOrDefault
    IPv6StringToNumOrNull isIPAddressInRange isIPv4String isIPv6String netloc path pathFull port portRFC
    protocol queryString queryStringAndFragment toIPv4 toIPv4OrDefault toIPv4OrNull toIPv4OrZero toIPv6
    toIPv6OrDefault toIPv6OrNull toIPv6OrZero topLevelDomain topLevelDomainRFC URLHierarchy URLPathHierarchy
  `,
  hashes: `
    cityHash64 farmFingerprint64 farmHash64 gccMurmurHash halfMD5 hiveHash intHash32 intHash64 javaHash
    javaHashUTF16LE jumpConsistentHash kafkaMurmurHash keccak256 kostikConsistentHash MD4 MD5 metroHash64
    murmurHash2_32 murmurHash2_64 murmurHash3_128 murmurHash3_32 murmurHash3_64 RIPEMD160 SHA1 SHA224 SHA256
    SHA384 SHA512 SHA512_256 sipHash128 sipHash128Keyed sipHash128Reference sipHash128ReferenceKeyed sipHash64
    sipHash64Keyed URLHash wyHash64 xxh3 xxh3_128 xxHash32 xxHash64 xxHash64Spark
  `,
  random: `
    rand rand64 randBernoulli randBinomial randCanonical randChiSquared randConstant randExponential randFisherF
    randLogNormal randNegativeBinomial randNormal randomFixedString randomPrintableASCII randomString
    randomStringUTF8 randPoisson randStudentT randUniform
  `,
  series: `
    seriesDecomposeSTL seriesOutliersDetectTukey timeSeriesFromGrid timeSeriesRange
  `,
  geo: `
    areaCartesian geoDistance geohashDecode geohashEncode geoToH3 greatCircleAngle greatCircleDistance
    h3Distance h3GetResolution h3ToGeo h3ToString pointInEllipses pointInPolygon stringToH3
  `,
  other: `
    bar blockNumber byteSize countDigits formatReadableDecimalSize formatReadableQuantity formatReadableSize
    formatReadableTimeDelta identity ignore isConstant isDecimalOverflow MACNumToString MACStringToNum
    materialize minSampleSizeContinuous minSampleSizeConversion neighbor parseReadableSize
    parseReadableSizeOrNull parseReadableSizeOrZero parseTimeDelta rowNumberInAllBlocks rowNumberInBlock
    runningDifference runningDifferenceStartingWithFirstValue toColumnTypeName toTypeName transform visibleWidth
  `,
  aliases: `
    array_remove array_to_string arrayAUC arrayPRAUC CARDINALITY ceiling CHAR_LENGTH CHARACTER_LENGTH concat_ws
    curdate current_date current_timestamp date_bin DATE_DIFF date_diff DATE_FORMAT DATE_TRUNC DAY DAYOFMONTH
    DAYOFWEEK DAYOFYEAR distanceCosine distanceL1 distanceL2 distanceL2Squared distanceLinf distanceLp
    extractAllGroups flatten FORMAT_BYTES FROM_BASE64 FROM_DAYS FROM_UNIXTIME from_utc_timestamp hasAllToken
    hasAnyToken HOUR INET6_ATON INET6_NTOA INET_ATON INET_NTOA instr JSON_ARRAY_LENGTH jsonMergePatch LAST_DAY
    lcase levenshteinDistance levenshteinDistanceUTF8 ln localtimestamp lpad ltrim MAP_FROM_ARRAYS mapContains
    mapFromString matchPhrase MICROSECOND mid MILLISECOND MINUTE mismatches mod modOrNull MONTH NANOSECOND
    NATURAL_SORT_KEY normalizeL1 normalizeL2 normalizeLinf normalizeLp normL1 normL2 normL2Squared normLinf
    normLp OCTET_LENGTH pmod pmodOrNull positive_modulo positive_modulo_or_null power QUARTER rand32
    REGEXP_EXTRACT regexp_instr REGEXP_MATCHES REGEXP_REPLACE REGEXP_SUBSTR regexpInstr removeAccentsUTF8
    replace rpad rtrim scalarProduct SECOND splitByAlpha sqid str_to_date str_to_map substr SUBSTRING_INDEX
    time_bucket TIMESTAMP_DIFF timestamp_diff timestampDiff timeZone timeZoneOf timeZoneOffset TO_BASE64 TO_DAYS
    TO_UNIXTIME to_utc_timestamp toStartOfFiveMinute toTimeZone trim truncate ucase UTC_timestamp
    vectorDifference vectorSum visitParamExtractBool visitParamExtractFloat visitParamExtractInt
    visitParamExtractRaw visitParamExtractString visitParamExtractUInt visitParamHas week width_bucket YEAR
    yearweek
  `,
};

const windowed =
  'cume_dist dense_rank denseRank lag lagInFrame lead leadInFrame nth_value ntile percent_rank percentRank rank row_number';

/** Conversions that also have forms for what does not convert, such as `parseDateTimeOrNull` and `parseDateTimeOrZero`. */
const forgiving = `
    parseDateTime parseDateTime32BestEffort parseDateTime64 parseDateTime64BestEffort
    parseDateTime64BestEffortUS parseDateTime64InJodaSyntax parseDateTimeBestEffort
    parseDateTimeBestEffortUS parseDateTimeInJodaSyntax toBFloat16 toTime toTime64
`;

/** Of these also such as `toInt64OrDefault`. */
const forgivingWithDefault = `
    toDate toDate32 toDateTime toDateTime64 toDecimal128 toDecimal256 toDecimal32 toDecimal64 toFloat32
    toFloat64 toInt128 toInt16 toInt256 toInt32 toInt64 toInt8 toUInt128 toUInt16 toUInt256 toUInt32
    toUInt64 toUInt8
`;

const formsOf = (names: string, suffixes: readonly string[]) =>
  words(names).flatMap((name) => suffixes.map((suffix) => `${name}${suffix}`));

/** Not to be combined with a suffix. */
export const scalarFunctions: readonly string[] = [
  ...Object.values(scalar).flatMap(words),
  ...formsOf(forgiving, ['', 'OrNull', 'OrZero']),
  ...formsOf(forgivingWithDefault, ['', 'OrNull', 'OrZero', 'OrDefault']),
  ...words(windowed),
];
