-- otel.spans
SELECT *
    FROM (SELECT `start_time` AS `time`,
  `start_time` AS `start_time`,
  `end_time` AS `end_time`,
  0 AS `duration_nano`,
  `trace_id` AS `trace_id`,
  `span_id` AS `span_id`,
  IFNULL(parent_span_id, '') AS `parent_span_id`,
  IFNULL(trace_state, '') AS `trace_state`,
  IFNULL(flags, 0) AS `flags`,
  IFNULL(name, '') AS `name`,
  IFNULL(kind, 'UNSPECIFIED') AS `kind`,
  IFNULL(status_code, 'UNSET') AS `status_code`,
  COALESCE(JSON_VALUE(resource_attributes, '$."service.name"'), JSON_VALUE(resource_attributes, '$."service"."name"'), '') AS `service_name`,
  IF(COALESCE(JSON_VALUE(resource_attributes, '$."service.version"'), JSON_VALUE(resource_attributes, '$."service"."version"'), '') = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', COALESCE(JSON_VALUE(resource_attributes, '$."service.version"'), JSON_VALUE(resource_attributes, '$."service"."version"'), '')))), 1, 16)) AS `service_version`,
  COALESCE(JSON_VALUE(resource_attributes, '$."deployment.environment.name"'), JSON_VALUE(resource_attributes, '$."deployment"."environment"."name"'), JSON_VALUE(resource_attributes, '$."deployment.environment"'), JSON_VALUE(resource_attributes, '$."deployment"."environment"'), '') AS `deployment_environment`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, IFNULL(span_attributes, JSON '{}')[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(IFNULL(span_attributes, JSON '{}'), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `attributes`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, IFNULL(resource_attributes, JSON '{}')[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(IFNULL(resource_attributes, JSON '{}'), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `resource_attributes`,
  IFNULL(JSON_VALUE(instrumentation_scope, '$.name'), '') AS `scope_name`,
  '***' AS `scope_version`,
  ARRAY(SELECT AS STRUCT entry.time AS time, entry.name AS name, (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, entry.attributes[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(entry.attributes, 1)) AS rule_raw))))
WHERE rule != 'deny') AS attributes
    FROM UNNEST(ARRAY(SELECT AS STRUCT COALESCE(SAFE_CAST(JSON_VALUE(entry, '$.timestamp') AS TIMESTAMP), SAFE_CAST(JSON_VALUE(entry, '$.time') AS TIMESTAMP)) AS time, IFNULL(JSON_VALUE(entry, '$.name'), '') AS name, IFNULL(JSON_QUERY(entry, '$.attributes'), JSON '{}') AS attributes
    FROM UNNEST(JSON_QUERY_ARRAY(events)) AS entry WITH OFFSET AS position ORDER BY position)) AS entry WITH OFFSET AS position ORDER BY position) AS `events`,
  ARRAY(SELECT AS STRUCT entry.trace_id AS trace_id, entry.span_id AS span_id, entry.trace_state AS trace_state, (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, entry.attributes[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(entry.attributes, 1)) AS rule_raw))))
WHERE rule != 'deny') AS attributes
    FROM UNNEST(ARRAY(SELECT AS STRUCT IFNULL(JSON_VALUE(entry, '$.trace_id'), '') AS trace_id, IFNULL(JSON_VALUE(entry, '$.span_id'), '') AS span_id, IFNULL(JSON_VALUE(entry, '$.trace_state'), '') AS trace_state, IFNULL(JSON_QUERY(entry, '$.attributes'), JSON '{}') AS attributes
    FROM UNNEST(JSON_QUERY_ARRAY(links)) AS entry WITH OFFSET AS position ORDER BY position)) AS entry WITH OFFSET AS position ORDER BY position) AS `links`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, IFNULL(JSON_QUERY(instrumentation_scope, '$.attributes'), JSON '{}')[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(IFNULL(JSON_QUERY(instrumentation_scope, '$.attributes'), JSON '{}'), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `scope_attributes`,
  COALESCE(NULLIF(scope_schema_url, ''), resource_schema_url, '') AS `schema_url`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, JSON_STRIP_NULLS(JSON_OBJECT('resource_schema_url', IF(scope_schema_url NOT IN ('', resource_schema_url), NULLIF(resource_schema_url, ''), NULL), 'dropped_attributes_count', CAST(NULLIF(dropped_attributes_count, 0) AS STRING)))[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(JSON_STRIP_NULLS(JSON_OBJECT('resource_schema_url', IF(scope_schema_url NOT IN ('', resource_schema_url), NULLIF(resource_schema_url, ''), NULL), 'dropped_attributes_count', CAST(NULLIF(dropped_attributes_count, 0) AS STRING))), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `otlp_fields`
FROM `otel.trace`) AS `spans`;

-- otel.metrics
SELECT *
    FROM (SELECT `datapoint_timestamp` AS `time`,
  `start_timestamp` AS `start_time`,
  IFNULL(metric_name, '') AS `name`,
  LOWER(IFNULL(metric_type, '')) AS `type`,
  IFNULL(metric_unit, '') AS `unit`,
  IFNULL(metric_description, '') AS `description`,
  IF(aggregation_temporality IN ('DELTA', 'CUMULATIVE'), LOWER(aggregation_temporality), '') AS `aggregation_temporality`,
  IF(UPPER(metric_type) = 'SUM', IFNULL(is_monotonic, FALSE), NULL) AS `is_monotonic`,
  IFNULL(value_double, CAST(value_int AS FLOAT64)) AS `value`,
  `count` AS `count`,
  `sum` AS `sum`,
  `min` AS `min`,
  `max` AS `max`,
  ARRAY(SELECT LAX_INT64(entry)
    FROM UNNEST(JSON_QUERY_ARRAY(bucket_counts)) AS entry WITH OFFSET AS position ORDER BY position) AS `bucket_counts`,
  ARRAY(SELECT LAX_FLOAT64(entry)
    FROM UNNEST(JSON_QUERY_ARRAY(explicit_bounds)) AS entry WITH OFFSET AS position ORDER BY position) AS `explicit_bounds`,
  CAST(NULL AS INT64) AS `scale`,
  CAST(NULL AS INT64) AS `zero_count`,
  CAST(NULL AS INT64) AS `positive_offset`,
  CAST([] AS ARRAY<INT64>) AS `positive_bucket_counts`,
  CAST(NULL AS INT64) AS `negative_offset`,
  CAST([] AS ARRAY<INT64>) AS `negative_bucket_counts`,
  ARRAY(SELECT AS STRUCT LAX_FLOAT64(entry.quantile) AS quantile, LAX_FLOAT64(entry.value) AS value
    FROM UNNEST(JSON_QUERY_ARRAY(quantiles)) AS entry WITH OFFSET AS position ORDER BY position) AS `quantile_values`,
  COALESCE(JSON_VALUE(resource_attributes, '$."service.name"'), JSON_VALUE(resource_attributes, '$."service"."name"'), '') AS `service_name`,
  IF(COALESCE(JSON_VALUE(resource_attributes, '$."service.version"'), JSON_VALUE(resource_attributes, '$."service"."version"'), '') = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', COALESCE(JSON_VALUE(resource_attributes, '$."service.version"'), JSON_VALUE(resource_attributes, '$."service"."version"'), '')))), 1, 16)) AS `service_version`,
  COALESCE(JSON_VALUE(resource_attributes, '$."deployment.environment.name"'), JSON_VALUE(resource_attributes, '$."deployment"."environment"."name"'), JSON_VALUE(resource_attributes, '$."deployment.environment"'), JSON_VALUE(resource_attributes, '$."deployment"."environment"'), '') AS `deployment_environment`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, IFNULL(datapoint_attributes, JSON '{}')[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(IFNULL(datapoint_attributes, JSON '{}'), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `attributes`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, IFNULL(resource_attributes, JSON '{}')[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(IFNULL(resource_attributes, JSON '{}'), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `resource_attributes`,
  IFNULL(JSON_VALUE(instrumentation_scope, '$.name'), '') AS `scope_name`,
  '***' AS `scope_version`,
  IFNULL(flags, 0) AS `flags`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, IFNULL(JSON_QUERY(instrumentation_scope, '$.attributes'), JSON '{}')[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(IFNULL(JSON_QUERY(instrumentation_scope, '$.attributes'), JSON '{}'), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `scope_attributes`,
  COALESCE(NULLIF(scope_schema_url, ''), resource_schema_url, '') AS `schema_url`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, JSON_STRIP_NULLS(JSON_OBJECT('resource_schema_url', IF(scope_schema_url NOT IN ('', resource_schema_url), NULLIF(resource_schema_url, ''), NULL)))[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(JSON_STRIP_NULLS(JSON_OBJECT('resource_schema_url', IF(scope_schema_url NOT IN ('', resource_schema_url), NULLIF(resource_schema_url, ''), NULL))), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `otlp_fields`,
  `value_int` AS `as_int`,
  IF(UPPER(metric_type) = 'EXPONENTIAL_HISTOGRAM', zero_threshold, NULL) AS `zero_threshold`,
  ARRAY(SELECT AS STRUCT entry.time AS time, entry.value AS value, entry.trace_id AS trace_id, entry.span_id AS span_id, (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, entry.filtered_attributes[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(entry.filtered_attributes, 1)) AS rule_raw))))
WHERE rule != 'deny') AS filtered_attributes
    FROM UNNEST(ARRAY(SELECT AS STRUCT SAFE_CAST(JSON_VALUE(entry, '$.timestamp') AS TIMESTAMP) AS time, IFNULL(LAX_FLOAT64(entry.value_double), LAX_FLOAT64(entry.value_int)) AS value, IFNULL(JSON_VALUE(entry, '$.trace_id'), '') AS trace_id, IFNULL(JSON_VALUE(entry, '$.span_id'), '') AS span_id, IFNULL(JSON_QUERY(entry, '$.filtered_attributes'), JSON '{}') AS filtered_attributes
    FROM UNNEST(JSON_QUERY_ARRAY(exemplars)) AS entry WITH OFFSET AS position ORDER BY position)) AS entry WITH OFFSET AS position ORDER BY position) AS `exemplars`
FROM `otel.metric`) AS `metrics`;

-- otel.logs
SELECT *
    FROM (SELECT `log_timestamp` AS `time`,
  IFNULL(observed_timestamp, log_timestamp) AS `observed_time`,
  IFNULL(severity_number, 0) AS `severity_number`,
  IFNULL(severity_text, '') AS `severity_text`,
  IFNULL(body, '') AS `body`,
  IFNULL(JSON_VALUE(log_attributes, '$."event.name"'), '') AS `event_name`,
  IFNULL(trace_id, '') AS `trace_id`,
  IFNULL(span_id, '') AS `span_id`,
  IFNULL(flags, 0) AS `flags`,
  COALESCE(JSON_VALUE(resource_attributes, '$."service.name"'), JSON_VALUE(resource_attributes, '$."service"."name"'), '') AS `service_name`,
  IF(COALESCE(JSON_VALUE(resource_attributes, '$."service.version"'), JSON_VALUE(resource_attributes, '$."service"."version"'), '') = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', COALESCE(JSON_VALUE(resource_attributes, '$."service.version"'), JSON_VALUE(resource_attributes, '$."service"."version"'), '')))), 1, 16)) AS `service_version`,
  COALESCE(JSON_VALUE(resource_attributes, '$."deployment.environment.name"'), JSON_VALUE(resource_attributes, '$."deployment"."environment"."name"'), JSON_VALUE(resource_attributes, '$."deployment.environment"'), JSON_VALUE(resource_attributes, '$."deployment"."environment"'), '') AS `deployment_environment`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, IFNULL(log_attributes, JSON '{}')[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(IFNULL(log_attributes, JSON '{}'), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `attributes`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, IFNULL(resource_attributes, JSON '{}')[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(IFNULL(resource_attributes, JSON '{}'), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `resource_attributes`,
  IFNULL(JSON_VALUE(instrumentation_scope, '$.name'), '') AS `scope_name`,
  '***' AS `scope_version`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, IFNULL(JSON_QUERY(instrumentation_scope, '$.attributes'), JSON '{}')[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(IFNULL(JSON_QUERY(instrumentation_scope, '$.attributes'), JSON '{}'), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `scope_attributes`,
  COALESCE(NULLIF(scope_schema_url, ''), resource_schema_url, '') AS `schema_url`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, JSON_STRIP_NULLS(JSON_OBJECT('resource_schema_url', IF(scope_schema_url NOT IN ('', resource_schema_url), NULLIF(resource_schema_url, ''), NULL), 'dropped_attributes_count', CAST(NULLIF(dropped_attributes_count, 0) AS STRING)))[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(JSON_STRIP_NULLS(JSON_OBJECT('resource_schema_url', IF(scope_schema_url NOT IN ('', resource_schema_url), NULLIF(resource_schema_url, ''), NULL), 'dropped_attributes_count', CAST(NULLIF(dropped_attributes_count, 0) AS STRING))), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `otlp_fields`
FROM `otel.log`) AS `logs`;
