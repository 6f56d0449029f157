import { byNames, words, type GatePolicy } from '../../../src/contract/telemetry/index.ts';

/**
 * What a statement may call, lower case. Left out on purpose: whatever reads a catalog, the session or another service
 * (external_query, remote and AI/ML functions, session_user, secure_context, keys.*, aead.*, dlp_*, net.* that is not pure
 * text, search and vector functions), whatever is made to fail (error), and what makes two runs of one statement differ
 * without need.
 */
const names = {
  aggregate: `any_value array_agg array_concat_agg avg bit_and bit_or bit_xor count countif grouping logical_and
    logical_or max max_by min min_by string_agg sum corr covar_pop covar_samp stddev stddev_pop stddev_samp var_pop
    var_samp variance approx_count_distinct approx_quantiles approx_top_count approx_top_sum hll_count.init
    hll_count.merge hll_count.merge_partial hll_count.extract kll_quantiles.init_int64 kll_quantiles.init_float64
    kll_quantiles.merge_partial kll_quantiles.merge_int64 kll_quantiles.merge_float64
    kll_quantiles.merge_point_int64 kll_quantiles.merge_point_float64 kll_quantiles.extract_int64
    kll_quantiles.extract_float64 kll_quantiles.extract_point_int64 kll_quantiles.extract_point_float64`,
  window: `cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank percentile_cont
    percentile_disc rank row_number`,
  conditional: `coalesce if ifnull nullif nullifzero zeroifnull greatest least`,
  conversion: `cast safe_cast parse_numeric parse_bignumeric parse_json to_json to_json_string bool int64 float64
    string lax_bool lax_int64 lax_float64 lax_string`,
  mathematical: `abs acos acosh asin asinh atan atan2 atanh cbrt ceil ceiling cos cosh cosine_distance cot coth csc csch
    div euclidean_distance exp floor ieee_divide is_inf is_nan ln log log10 mod pi pow power rand range_bucket round
    safe_add safe_divide safe_multiply safe_negate safe_subtract sec sech sign sin sinh sqrt tan tanh trunc`,
  text: `ascii byte_length char_length character_length chr code_points_to_bytes code_points_to_string concat
    contains_substr edit_distance ends_with format from_base32 from_base64 from_hex initcap instr left length lower lpad
    ltrim normalize normalize_and_casefold octet_length regexp_contains regexp_extract regexp_extract_all
    regexp_instr regexp_replace regexp_substr repeat replace reverse right rpad rtrim safe_convert_bytes_to_string
    soundex split starts_with strpos substr substring to_base32 to_base64 to_code_points to_hex translate trim
    unicode upper`,
  net: `net.host net.ip_from_string net.ip_net_mask net.ip_to_string net.ip_trunc net.ipv4_from_int64
    net.ipv4_to_int64 net.public_suffix net.reg_domain net.safe_ip_from_string`,
  hash: `farm_fingerprint md5 sha1 sha256 sha512 generate_uuid`,
  bits: `bit_count`,
  array: `array array_concat array_first array_last array_length array_reverse array_slice array_to_string
    generate_array generate_date_array generate_timestamp_array unnest offset ordinal safe_offset safe_ordinal struct`,
  json: `json_array json_array_append json_array_insert json_extract json_extract_array json_extract_scalar
    json_extract_string_array json_flatten json_keys json_object json_query json_query_array json_remove json_set
    json_strip_nulls json_type json_value json_value_array`,
  time: `current_date current_datetime current_time current_timestamp date date_add date_bucket date_diff
    date_from_unix_date date_sub date_trunc datetime datetime_add datetime_bucket datetime_diff datetime_sub
    datetime_trunc extract format_date format_datetime format_time format_timestamp justify_days justify_hours
    justify_interval last_day make_interval parse_date parse_datetime parse_time parse_timestamp string time time_add
    time_diff time_sub time_trunc timestamp timestamp_add timestamp_bucket timestamp_diff timestamp_micros
    timestamp_millis timestamp_seconds timestamp_sub timestamp_trunc unix_date unix_micros unix_millis unix_seconds
    interval range range_contains range_start range_end range_overlaps range_intersect generate_range_array`,
} as const;

/** Those that fail on some values have a form that answers NULL instead: `SAFE.PARSE_JSON(body)`. */
const safe = `parse_json parse_numeric parse_bignumeric parse_date parse_datetime parse_time parse_timestamp substr
  regexp_extract regexp_extract_all regexp_replace regexp_contains timestamp date datetime string int64 float64 bool
  timestamp_micros timestamp_millis timestamp_seconds timestamp_add timestamp_sub timestamp_trunc timestamp_diff log ln
  log10 pow power sqrt exp left right from_base64 from_hex net.ip_from_string div mod json_value json_query format
  to_json array_first array_last array_slice generate_array chr code_points_to_string`;

const listed = [...new Set(Object.values(names).flatMap(words))].toSorted();

export const functionNames: readonly string[] = listed.map((name) => name.toUpperCase());

export const functions: ReadonlySet<string> = new Set([...listed, ...words(safe).map((name) => `safe.${name}`)]);

/** What to write instead of what other dialects call it. */
const functionHints = byNames(
  Object.entries({
    'Use CURRENT_TIMESTAMP().': 'now getdate',
    'Use CURRENT_DATE().': 'today',
    'Use EXTRACT(part FROM time).': 'date_part',
    'Use TIMESTAMP_TRUNC(time, MINUTE), or TIMESTAMP_SECONDS(DIV(UNIX_SECONDS(time), 300) * 300).': 'time_bucket',
    'Use TIMESTAMP_TRUNC(time, MINUTE).': 'tostartofminute',
    'Use TIMESTAMP_TRUNC(time, HOUR).': 'tostartofhour',
    'Use TIMESTAMP_DIFF(end, start, SECOND).': 'datediff',
    'Use APPROX_QUANTILES(x, 1000)[OFFSET(950)].': 'quantile quantile_cont approx_percentile percentile',
    'Use APPROX_QUANTILES(x, 2)[OFFSET(1)].': 'median',
    'Use MAX_BY(value, by).': 'arg_max',
    'Use MIN_BY(value, by).': 'arg_min',
    'Use STRING_AGG(x, separator).': 'group_concat',
    'Use COUNT(DISTINCT x) or APPROX_COUNT_DISTINCT(x).': 'uniq',
    'Use COUNT(DISTINCT x).': 'uniqexact',
    'Use COUNTIF(condition).': 'count_if',
    'Use SUM(IF(condition, x, 0)).': 'sumif',
    'Use APPROX_TOP_COUNT(x, 10).': 'topk',
    'Use SAFE_CAST(x AS type).': 'try_cast',
    'Use TIMESTAMP_SECONDS(x) or PARSE_TIMESTAMP(format, text).': 'to_timestamp',
    'Use TIMESTAMP_SECONDS(x).': 'from_unixtime',
    'Use REGEXP_CONTAINS(text, pattern).': 'regexp_matches regexp_like match',
    'Use ARRAY_LENGTH(REGEXP_EXTRACT_ALL(text, pattern)).': 'regexp_count',
    'Use LOWER(x) LIKE pattern, or CONTAINS_SUBSTR(x, text).': 'ilike',
    'Use JSON_VALUE(attributes, \'$."http.route"\').': 'json_extract_string jsonextractstring',
    'Use JSON_KEYS(attributes, 1).': 'map_keys',
    'Values that do not fit can be left out: SAFE_CAST, SAFE_DIVIDE, NULLIF.': 'error',
    'Who runs the statement is not told.': 'session_user',
    'Only otel.spans, otel.metrics and otel.logs can be read.': 'external_query',
  }),
);

/** Of casts. */
const types = `string bytes int64 int integer bigint smallint tinyint byteint float64 numeric decimal bignumeric bigdecimal
  bool boolean timestamp date datetime time interval json array struct range`;

export const policy: GatePolicy = {
  dialect: 'bigquery',
  title: 'BigQuery',
  functions,
  functionNamesAreCaseSensitive: false,
  functionHints,
  types: new Set(words(types)),
  tableFunctions: new Set(['unnest']),
};
