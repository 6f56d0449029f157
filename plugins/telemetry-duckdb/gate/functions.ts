import { byNames, isNode, list, words, type Json, type Node } from '../../../src/contract/telemetry/index.ts';

/*
 * What a statement may call: functions of their arguments alone. Missing on purpose: whatever reads or changes state
 * (getvariable, current_setting, setseed, nextval, write_log, query), runs SQL in a string (json_execute_serialized_sql),
 * sleeps, names files, or computes for minutes on two strings (levenshtein).
 */
const scalar = `
  !__postfix !~~ !~~* % & && * ** + - -> ->> / // <-> << <=> <@ >> @ @> ^ ^@ | || ~ ~~ ~~* ~~~
  abs acos acosh add age aggregate alias apply array_aggr array_aggregate array_apply array_cat array_concat
  array_contains array_cosine_distance array_cosine_similarity array_distance array_distinct array_dot_product
  array_extract array_filter array_grade_up array_has array_has_all array_has_any array_indexof array_inner_product
  array_intersect array_length array_position array_reduce array_resize array_reverse array_reverse_sort array_select
  array_slice array_sort array_to_json array_to_string array_transform array_unique array_value array_where array_zip
  array_append array_pop_back array_pop_front array_prepend array_push_back array_push_front
  ascii asin asinh atan atan2 atanh bar base64 bin bit_count bit_length bit_position bitstring cardinality cbrt ceil
  ceiling century char_length character_length chr concat concat_ws constant_or_null contains cos cosh cot
  current_date current_localtime current_localtimestamp date_add date_diff date_part date_sub date_trunc datediff
  datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month decade decode degrees divide
  element_at encode ends_with enum_code epoch epoch_ms epoch_ns epoch_us equi_width_bins era error even exp factorial fdiv
  filter flatten floor fmod format formatreadabledecimalsize formatreadablesize format_bytes from_base64 from_binary
  from_hex from_json gamma gcd gen_random_uuid generate_series generate_subscripts get_bit get_current_time
  get_current_timestamp grade_up greatest greatest_common_divisor hamming hash hex hour ifnull ilike_escape instr
  is_histogram_other_bin isfinite isinf isnan isodow isoyear jaccard jaro_similarity jaro_winkler_similarity json
  json_array json_array_length json_contains json_exists json_extract json_extract_path json_extract_path_text
  json_extract_string json_keys json_merge_patch json_object json_pretty json_quote json_structure json_transform
  json_type json_valid json_value julian last_day lcase lcm least least_common_multiple left left_grapheme len length
  length_grapheme lgamma like_escape list_aggr list_aggregate list_any_value list_append list_apply
  list_approx_count_distinct list_avg list_bit_and list_bit_or list_bit_xor list_bool_and list_bool_or list_cat
  list_concat list_contains list_cosine_distance list_cosine_similarity list_count list_distance list_distinct
  list_dot_product list_element list_entropy list_extract list_filter list_first list_grade_up list_has list_has_all
  list_has_any list_histogram list_indexof list_inner_product list_intersect list_kurtosis list_last list_mad list_max
  list_median list_min list_mode list_pack list_position list_prepend list_product list_reduce list_resize list_reverse
  list_reverse_sort list_select list_sem list_skewness list_slice list_sort list_stddev_pop list_stddev_samp
  list_string_agg list_sum list_transform list_unique list_value list_var_pop list_var_samp list_where list_zip ln log
  log10 log2 lower lpad ltrim make_date make_time make_timestamp make_timestamp_ms make_timestamp_ns make_timestamptz map
  map_concat map_contains map_contains_entry map_contains_value map_entries map_extract map_extract_value
  map_from_entries map_keys map_values md5 md5_number md5_number_lower md5_number_upper microsecond millennium
  millisecond minute mismatches mod month monthname multiply nanosecond nextafter nfc_normalize normalized_interval
  not_ilike_escape not_like_escape now nullif octet_length ord overlay parse_dirname parse_dirpath parse_filename
  parse_formatted_bytes parse_path pi position pow power prefix printf quarter radians random range reduce regexp_escape
  regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array repeat replace
  reverse right right_grapheme round round_even roundbankers row row_to_json rpad rtrim second set_bit sha1 sha256 sign
  signbit sin sinh split split_part sqrt starts_with str_split str_split_regex strftime string_split string_split_regex
  string_to_array strip_accents strlen strpos strptime struct_concat struct_contains struct_extract struct_extract_at
  struct_has struct_indexof struct_insert struct_keys struct_pack struct_position struct_update struct_values substr
  substring substring_grapheme subtract suffix tan tanh time_bucket timezone timezone_hour timezone_minute to_base
  to_base64 to_binary to_centuries to_days to_decades to_hex to_hours to_json to_microseconds to_millennia
  to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years today transaction_timestamp
  translate trim trunc try_strptime typeof ucase unbin unhex unicode unnest unpivot_list upper url_decode url_encode
  uuid uuid_extract_timestamp uuid_extract_version week weekday weekofyear xor year yearweek
`;

const aggregate = `
  any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_max_nulls_last arg_min
  arg_min_null arg_min_nulls_last argmax argmin array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count count_if
  count_star countif covar_pop covar_samp cume_dist dense_rank entropy favg fill first first_value fsum geomean
  geometric_mean group_concat histogram histogram_exact json_group_array json_group_object kahan_sum kurtosis
  kurtosis_pop lag last last_value lead list listagg mad max max_by mean median min min_by mode nth_value ntile
  percent_rank percentile_cont percentile_disc product quantile quantile_cont quantile_disc rank rank_dense regr_avgx
  regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile row_number sem
  skewness stddev stddev_pop stddev_samp string_agg sum sumkahan var_pop var_samp variance wavg weighted_avg
`;

export const functions: ReadonlySet<string> = new Set(words(`${scalar} ${aggregate}`));

export const tableFunctions: ReadonlySet<string> = new Set(words('unnest range generate_series json_each json_tree'));

/** For suggestions: names a person would type. */
export const functionNames: readonly string[] = [...functions].filter((name) => /^[a-z]\w*$/.test(name)).toSorted();

/** Type names; nested types are checked part by part. */
export const typeNames: ReadonlySet<string> = new Set([
  ...words(`BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT BIGNUM FLOAT DOUBLE
    DECIMAL VARCHAR CHAR BLOB BIT UUID DATE TIME TIME_NS INTERVAL TIMESTAMP TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS LIST MAP
    STRUCT ARRAY NULL JSON`),
  'TIMESTAMP WITH TIME ZONE',
  'TIME WITH TIME ZONE',
]);

/** What to write instead of a function that is not there, or not allowed. */
export const functionHints = byNames(
  Object.entries({
    'Settings are not readable.': 'current_setting',
    "Use strftime(time, '%Y-%m-%d %H:%M').": 'date_format',
    'Use jaro_winkler_similarity(a, b).': 'damerau_levenshtein editdist3 levenshtein',
    'Use to_timestamp(seconds).': 'from_unixtime',
    "Use attributes['key'].": 'jsonextractstring json_value',
    'Use quantile_cont(x, 0.95).': 'percentile',
    'Use approx_quantile(x, 0.95).': 'approx_percentile',
    'Use quantile_cont(x, [0.5, 0.95, 0.99]).': 'quantiles',
    "Use strftime(time, '%Y-%m-%d').": 'to_char',
    "Use time_bucket(INTERVAL '5 minutes', time).": 'tostartofinterval',
    "Use date_trunc('minute', time).": 'tostartofminute timestamp_trunc',
    "Use date_trunc('hour', time).": 'tostartofhour',
    'Use approx_count_distinct(x) or count(DISTINCT x).': 'uniq',
    'Use count(DISTINCT x).': 'uniqexact',
    'Use sum(x) FILTER (WHERE condition).': 'sumif',
    'Use avg(x) FILTER (WHERE condition).': 'avgif',
    'Of a cumulative counter take (max(value) - min(value)) / seconds, grouped by series (service_name, attributes) and time_bucket; of a delta one sum(value) / seconds. aggregation_temporality says which it is.':
      'increase irate rate',
    'Use row_number() OVER (…) and a difference: value - lag(value) OVER (PARTITION BY … ORDER BY time).':
      'delta deriv idelta neighbor runningdifference',
    'The dialect and version are in the tool description.': 'version',
  }),
);

/** Of a value of constant size that would be made whole in memory. What is not constant meets the engine's limits. */
export function elementsOf(name: string, call: Node): number | undefined {
  if (!sized.has(name)) return undefined;
  const [first, second, third = 1] = list(call['children']).map(constantNumber);
  if (name !== 'range' && name !== 'generate_series') return second;
  if (first === undefined) return undefined;
  return Math.abs(second === undefined ? first : second - first) / (Math.abs(third) || 1);
}

const sized: ReadonlySet<string> = new Set(words('range generate_series repeat lpad rpad list_resize array_resize'));

function constantNumber(value: Json): number | undefined {
  if (!isNode(value)) return undefined;
  // 1e9::BIGINT, and to_hours(…) never comes here as it is a function.
  if (value['class'] === 'CAST') return constantNumber(value['child'] ?? null);
  const constant = value['value'];
  if (value['class'] !== 'CONSTANT' || !isNode(constant)) return undefined;
  const number = constant['value'];
  if (typeof number === 'number') return number;
  if (typeof number === 'string') return Number(number);
  return isNode(number) ? Infinity : undefined;
}
