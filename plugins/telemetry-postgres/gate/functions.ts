import { byNames, words } from '../../../src/contract/telemetry/index.ts';

/*
 * Functions of pg_catalog that read nothing but their arguments and the clock. A function newer than the server fails there.
 * Not listed, among others: settings, files, large objects, sequences, locks, statistics,
 * catalogs (pg_*, has_*, obj_description, to_reg*), SQL in strings (query_to_xml, ts_stat), setseed.
 */

const scalar = `
  abs acos acosd acosh asin asind asinh atan atan2 atan2d atand atanh cbrt ceil ceiling cos cosd cosh cot cotd degrees
  div erf erfc exp factorial floor gamma gcd lcm lgamma ln log log10 min_scale mod pi pow power radians random
  random_normal round scale sign sin sind sinh sqrt tan tand tanh trim_scale trunc width_bucket
  ascii bit_count bit_length btrim casefold char_length character_length chr concat concat_ws crc32 crc32c decode encode
  format get_bit get_byte initcap is_normalized left length like_escape lower lpad ltrim md5 normalize octet_length overlay
  parse_ident position quote_ident quote_literal quote_nullable regexp_count regexp_instr regexp_like regexp_match
  regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr repeat replace reverse right
  rpad rtrim set_bit set_byte sha224 sha256 sha384 sha512 similar_to_escape split_part starts_with string_to_array
  string_to_table strpos substr substring textlen to_ascii to_bin to_hex to_oct translate unistr upper
  bool date float4 float8 int2 int4 int8 interval numeric text time timestamp timestamptz timetz varchar
  age clock_timestamp date_add date_bin date_part date_subtract date_trunc extract isfinite justify_days justify_hours
  justify_interval make_date make_interval make_time make_timestamp make_timestamptz now overlaps statement_timestamp
  timeofday timezone to_char to_date to_number to_timestamp transaction_timestamp
  array_append array_cat array_dims array_fill array_length array_lower array_ndims array_position array_positions
  array_prepend array_remove array_replace array_reverse array_sample array_shuffle array_sort array_to_json
  array_to_string array_upper cardinality generate_series generate_subscripts trim_array unnest
  json_array_element json_array_element_text json_array_elements json_array_elements_text json_array_length
  json_build_array json_build_object json_each json_each_text json_extract_path json_extract_path_text json_object
  json_object_field json_object_field_text json_object_keys json_strip_nulls json_to_record
  json_to_recordset json_typeof jsonb_array_element jsonb_array_element_text jsonb_array_elements
  jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_concat jsonb_contained
  jsonb_contains jsonb_delete jsonb_delete_path jsonb_each jsonb_each_text jsonb_exists jsonb_exists_all
  jsonb_exists_any jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_field
  jsonb_object_field_text jsonb_object_keys jsonb_path_exists jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz
  jsonb_path_query jsonb_path_query_array jsonb_path_query_array_tz jsonb_path_query_first jsonb_path_query_first_tz
  jsonb_path_query_tz jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_to_recordset
  jsonb_typeof row_to_json to_json to_jsonb
  abbrev broadcast family host hostmask inet_merge inet_same_family masklen netmask network
  daterange int4range int8range isempty lower_inc lower_inf multirange numrange range_merge tsrange tstzrange upper_inc
  upper_inf
  gen_random_uuid uuid_extract_timestamp uuid_extract_version uuidv4 uuidv7
  numnode phraseto_tsquery plainto_tsquery setweight strip to_tsquery to_tsvector ts_rank ts_rank_cd
  websearch_to_tsquery
  num_nonnulls num_nulls
`;

const aggregate = `
  any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp cume_dist dense_rank
  every first_value json_agg json_agg_strict json_object_agg json_object_agg_strict json_object_agg_unique
  json_object_agg_unique_strict jsonb_agg jsonb_agg_strict jsonb_object_agg jsonb_object_agg_strict
  jsonb_object_agg_unique jsonb_object_agg_unique_strict lag last_value lead max min mode nth_value ntile percent_rank
  percentile_cont percentile_disc range_agg range_intersect_agg rank regr_avgx regr_avgy regr_count regr_intercept
  regr_r2 regr_slope regr_sxx regr_sxy regr_syy row_number stddev stddev_pop stddev_samp string_agg sum var_pop var_samp
  variance
`;

export const functions: ReadonlySet<string> = new Set(words(`${scalar} ${aggregate}`));

export const functionNames: readonly string[] = [...functions].toSorted();

/** Replacements for functions that do not exist or are not allowed. */
export const functionHints = byNames(
  Object.entries({
    'Use count(DISTINCT x).': 'approx_count_distinct uniq uniqexact',
    'Use percentile_cont(0.95) WITHIN GROUP (ORDER BY x).': 'approx_percentile approx_quantile quantile quantile_cont',
    'Use (array_agg(x ORDER BY y DESC))[1], or SELECT DISTINCT ON (…) … ORDER BY ….':
      'arg_max arg_min argmax argmin first last max_by min_by',
    'Use unnest(…) or jsonb_array_elements(…) in FROM.': 'array_join explode',
    'Use count(*) FILTER (WHERE condition), sum(x) FILTER (WHERE condition).': 'avgif count_if countif sumif',
    'Settings are not readable. Times are in UTC.': 'current_database current_schema current_setting',
    'Subtract: extract(epoch FROM end_time - start_time) gives seconds.': 'date_diff datediff',
    "Use to_char(time, 'YYYY-MM-DD HH24:MI').": 'date_format strftime',
    "Add an interval: time + INTERVAL '5 minutes'.": 'dateadd',
    'Use extract(epoch FROM time).': 'epoch tounixtimestamp',
    'Use to_timestamp(seconds).': 'from_unixtime',
    "Use string_agg(x, ', ').": 'group_concat',
    'Use array_agg(DISTINCT x).': 'groupuniqarray',
    'Use width_bucket(x, low, high, buckets) and GROUP BY.': 'histogram',
    'Use CASE WHEN condition THEN a ELSE b END.': 'if',
    'Use coalesce(a, b).': 'ifnull nvl',
    'Write x IS NULL.': 'isnull',
    "Use body::jsonb->'key', ->> for text, or jsonb_path_query.": 'json_extract',
    "Use body::jsonb->>'key'.": 'json_extract_string',
    "Use jsonb_to_record(x) AS t(name text, n int), or ->>'key'.": 'json_populate_record jsonb_populate_record',
    "Use body::jsonb->>'key', or jsonb_path_query_first.": 'json_value',
    'Use jsonb_to_recordset(x) AS t(name text, n int).': 'jsonb_populate_recordset',
    'Use length(x), or cardinality(x) of an array.': 'len',
    'Compare with LIKE, ILIKE or a regular expression.': 'levenshtein',
    'Use array_agg(x).': 'list',
    "Maps are jsonb: attributes->>'http.route', jsonb_each_text(attributes) in FROM, attributes ? 'key'.":
      'map_contains map_keys map_values',
    'Use percentile_cont(0.5) WITHIN GROUP (ORDER BY x).': 'median',
    'Columns have their types in the answer, and in DESCRIBE otel.spans.': 'pg_typeof',
    'SQL in a string is not run: write it as a subquery.': 'query_to_xml ts_stat',
    "Use substring(x FROM 'pattern'), or (regexp_match(x, 'pattern'))[1].": 'regexp_extract',
    'Use a / nullif(b, 0).': 'safe_divide',
    'Settings cannot be changed. Times are in UTC.': 'set_config',
    "Use date_bin('5 minutes', time, TIMESTAMPTZ 'epoch') or date_trunc('minute', time).":
      'time_bucket timestamp_trunc tostartofhour tostartofinterval tostartofminute',
    "Use date_trunc('day', time), or time::date.": 'todate',
    'The dialect and version are in the tool description.': 'version',
  }),
);
