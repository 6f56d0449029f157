-- otel.spans
SELECT *
    FROM (SELECT IF((`trace`.`tenant_id` = 'acme'), `start_time`, NULL) AS `time`,
  IF((`trace`.`tenant_id` = 'acme'), `start_time`, NULL) AS `start_time`,
  IF((`trace`.`tenant_id` = 'acme'), `end_time`, NULL) AS `end_time`,
  IF((`trace`.`tenant_id` = 'acme'), TIMESTAMP_DIFF(end_time, start_time, MICROSECOND) * 1000, NULL) AS `duration_nano`,
  IF((`trace`.`tenant_id` = 'acme'), `trace_id`, NULL) AS `trace_id`,
  IF((`trace`.`tenant_id` = 'acme'), `span_id`, NULL) AS `span_id`,
  IF((`trace`.`tenant_id` = 'acme'), IFNULL(parent_span_id, ''), NULL) AS `parent_span_id`,
  IF((`trace`.`tenant_id` = 'acme'), IFNULL(trace_state, ''), NULL) AS `trace_state`,
  IF((`trace`.`tenant_id` = 'acme'), IFNULL(flags, 0), NULL) AS `flags`,
  IF((`trace`.`tenant_id` = 'acme'), IFNULL(name, ''), NULL) AS `name`,
  IF((`trace`.`tenant_id` = 'acme'), IFNULL(kind, 'UNSPECIFIED'), NULL) AS `kind`,
  IF((`trace`.`tenant_id` = 'acme'), IFNULL(status_code, 'UNSET'), NULL) AS `status_code`,
  IF((`trace`.`tenant_id` = 'acme'), IFNULL(status_message, ''), NULL) AS `status_message`,
  IF((`trace`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(resource_attributes, '$."service.name"'), JSON_VALUE(resource_attributes, '$."service"."name"'), ''), NULL) AS `service_name`,
  IF((`trace`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(resource_attributes, '$."service.version"'), JSON_VALUE(resource_attributes, '$."service"."version"'), ''), NULL) AS `service_version`,
  IF((`trace`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(resource_attributes, '$."deployment.environment.name"'), JSON_VALUE(resource_attributes, '$."deployment"."environment"."name"'), JSON_VALUE(resource_attributes, '$."deployment.environment"'), JSON_VALUE(resource_attributes, '$."deployment"."environment"'), ''), NULL) AS `deployment_environment`,
  IF((`trace`.`tenant_id` = 'acme'), IFNULL(span_attributes, JSON '{}'), NULL) AS `attributes`,
  IF((`trace`.`tenant_id` = 'acme'), IFNULL(resource_attributes, JSON '{}'), NULL) AS `resource_attributes`,
  IF((`trace`.`tenant_id` = 'acme'), IFNULL(JSON_VALUE(instrumentation_scope, '$.name'), ''), NULL) AS `scope_name`,
  IF((`trace`.`tenant_id` = 'acme'), IFNULL(JSON_VALUE(instrumentation_scope, '$.version'), ''), NULL) AS `scope_version`,
  IF((`trace`.`tenant_id` = 'acme'), ARRAY(SELECT AS STRUCT COALESCE(SAFE_CAST(JSON_VALUE(entry, '$.timestamp') AS TIMESTAMP), SAFE_CAST(JSON_VALUE(entry, '$.time') AS TIMESTAMP)) AS time, IFNULL(JSON_VALUE(entry, '$.name'), '') AS name, IFNULL(JSON_QUERY(entry, '$.attributes'), JSON '{}') AS attributes
    FROM UNNEST(JSON_QUERY_ARRAY(events)) AS entry WITH OFFSET AS position ORDER BY position), NULL) AS `events`,
  IF((`trace`.`tenant_id` = 'acme'), ARRAY(SELECT AS STRUCT IFNULL(JSON_VALUE(entry, '$.trace_id'), '') AS trace_id, IFNULL(JSON_VALUE(entry, '$.span_id'), '') AS span_id, IFNULL(JSON_VALUE(entry, '$.trace_state'), '') AS trace_state, IFNULL(JSON_QUERY(entry, '$.attributes'), JSON '{}') AS attributes
    FROM UNNEST(JSON_QUERY_ARRAY(links)) AS entry WITH OFFSET AS position ORDER BY position), NULL) AS `links`,
  IF((`trace`.`tenant_id` = 'acme'), IFNULL(JSON_QUERY(instrumentation_scope, '$.attributes'), JSON '{}'), NULL) AS `scope_attributes`,
  IF((`trace`.`tenant_id` = 'acme'), COALESCE(NULLIF(scope_schema_url, ''), resource_schema_url, ''), NULL) AS `schema_url`,
  IF((`trace`.`tenant_id` = 'acme'), JSON_STRIP_NULLS(JSON_OBJECT('resource_schema_url', IF(scope_schema_url NOT IN ('', resource_schema_url), NULLIF(resource_schema_url, ''), NULL), 'dropped_attributes_count', CAST(NULLIF(dropped_attributes_count, 0) AS STRING))), NULL) AS `otlp_fields`
FROM `otel.trace`
WHERE (`trace`.`tenant_id` = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `spans`;

-- otel.metrics
SELECT *
    FROM (SELECT IF((`metric`.`tenant_id` = 'acme'), `datapoint_timestamp`, NULL) AS `time`,
  IF((`metric`.`tenant_id` = 'acme'), `start_timestamp`, NULL) AS `start_time`,
  IF((`metric`.`tenant_id` = 'acme'), IFNULL(metric_name, ''), NULL) AS `name`,
  IF((`metric`.`tenant_id` = 'acme'), LOWER(IFNULL(metric_type, '')), NULL) AS `type`,
  IF((`metric`.`tenant_id` = 'acme'), IFNULL(metric_unit, ''), NULL) AS `unit`,
  IF((`metric`.`tenant_id` = 'acme'), IFNULL(metric_description, ''), NULL) AS `description`,
  IF((`metric`.`tenant_id` = 'acme'), IF(aggregation_temporality IN ('DELTA', 'CUMULATIVE'), LOWER(aggregation_temporality), ''), NULL) AS `aggregation_temporality`,
  IF((`metric`.`tenant_id` = 'acme'), IF(UPPER(metric_type) = 'SUM', IFNULL(is_monotonic, FALSE), NULL), NULL) AS `is_monotonic`,
  IF((`metric`.`tenant_id` = 'acme'), IFNULL(value_double, CAST(value_int AS FLOAT64)), NULL) AS `value`,
  IF((`metric`.`tenant_id` = 'acme'), `count`, NULL) AS `count`,
  IF((`metric`.`tenant_id` = 'acme'), `sum`, NULL) AS `sum`,
  IF((`metric`.`tenant_id` = 'acme'), `min`, NULL) AS `min`,
  IF((`metric`.`tenant_id` = 'acme'), `max`, NULL) AS `max`,
  IF((`metric`.`tenant_id` = 'acme'), ARRAY(SELECT LAX_INT64(entry)
    FROM UNNEST(JSON_QUERY_ARRAY(bucket_counts)) AS entry WITH OFFSET AS position ORDER BY position), NULL) AS `bucket_counts`,
  IF((`metric`.`tenant_id` = 'acme'), ARRAY(SELECT LAX_FLOAT64(entry)
    FROM UNNEST(JSON_QUERY_ARRAY(explicit_bounds)) AS entry WITH OFFSET AS position ORDER BY position), NULL) AS `explicit_bounds`,
  IF((`metric`.`tenant_id` = 'acme'), CAST(NULL AS INT64), NULL) AS `scale`,
  IF((`metric`.`tenant_id` = 'acme'), CAST(NULL AS INT64), NULL) AS `zero_count`,
  IF((`metric`.`tenant_id` = 'acme'), CAST(NULL AS INT64), NULL) AS `positive_offset`,
  IF((`metric`.`tenant_id` = 'acme'), CAST([] AS ARRAY<INT64>), NULL) AS `positive_bucket_counts`,
  IF((`metric`.`tenant_id` = 'acme'), CAST(NULL AS INT64), NULL) AS `negative_offset`,
  IF((`metric`.`tenant_id` = 'acme'), CAST([] AS ARRAY<INT64>), NULL) AS `negative_bucket_counts`,
  IF((`metric`.`tenant_id` = 'acme'), ARRAY(SELECT AS STRUCT LAX_FLOAT64(entry.quantile) AS quantile, LAX_FLOAT64(entry.value) AS value
    FROM UNNEST(JSON_QUERY_ARRAY(quantiles)) AS entry WITH OFFSET AS position ORDER BY position), NULL) AS `quantile_values`,
  IF((`metric`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(resource_attributes, '$."service.name"'), JSON_VALUE(resource_attributes, '$."service"."name"'), ''), NULL) AS `service_name`,
  IF((`metric`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(resource_attributes, '$."service.version"'), JSON_VALUE(resource_attributes, '$."service"."version"'), ''), NULL) AS `service_version`,
  IF((`metric`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(resource_attributes, '$."deployment.environment.name"'), JSON_VALUE(resource_attributes, '$."deployment"."environment"."name"'), JSON_VALUE(resource_attributes, '$."deployment.environment"'), JSON_VALUE(resource_attributes, '$."deployment"."environment"'), ''), NULL) AS `deployment_environment`,
  IF((`metric`.`tenant_id` = 'acme'), IFNULL(datapoint_attributes, JSON '{}'), NULL) AS `attributes`,
  IF((`metric`.`tenant_id` = 'acme'), IFNULL(resource_attributes, JSON '{}'), NULL) AS `resource_attributes`,
  IF((`metric`.`tenant_id` = 'acme'), IFNULL(JSON_VALUE(instrumentation_scope, '$.name'), ''), NULL) AS `scope_name`,
  IF((`metric`.`tenant_id` = 'acme'), IFNULL(JSON_VALUE(instrumentation_scope, '$.version'), ''), NULL) AS `scope_version`,
  IF((`metric`.`tenant_id` = 'acme'), IFNULL(flags, 0), NULL) AS `flags`,
  IF((`metric`.`tenant_id` = 'acme'), IFNULL(JSON_QUERY(instrumentation_scope, '$.attributes'), JSON '{}'), NULL) AS `scope_attributes`,
  IF((`metric`.`tenant_id` = 'acme'), COALESCE(NULLIF(scope_schema_url, ''), resource_schema_url, ''), NULL) AS `schema_url`,
  IF((`metric`.`tenant_id` = 'acme'), JSON_STRIP_NULLS(JSON_OBJECT('resource_schema_url', IF(scope_schema_url NOT IN ('', resource_schema_url), NULLIF(resource_schema_url, ''), NULL))), NULL) AS `otlp_fields`,
  IF((`metric`.`tenant_id` = 'acme'), `value_int`, NULL) AS `as_int`,
  IF((`metric`.`tenant_id` = 'acme'), IF(UPPER(metric_type) = 'EXPONENTIAL_HISTOGRAM', zero_threshold, NULL), NULL) AS `zero_threshold`,
  IF((`metric`.`tenant_id` = 'acme'), ARRAY(SELECT AS STRUCT SAFE_CAST(JSON_VALUE(entry, '$.timestamp') AS TIMESTAMP) AS time, IFNULL(LAX_FLOAT64(entry.value_double), LAX_FLOAT64(entry.value_int)) AS value, IFNULL(JSON_VALUE(entry, '$.trace_id'), '') AS trace_id, IFNULL(JSON_VALUE(entry, '$.span_id'), '') AS span_id, IFNULL(JSON_QUERY(entry, '$.filtered_attributes'), JSON '{}') AS filtered_attributes
    FROM UNNEST(JSON_QUERY_ARRAY(exemplars)) AS entry WITH OFFSET AS position ORDER BY position), NULL) AS `exemplars`
FROM `otel.metric`
WHERE (`metric`.`tenant_id` = 'acme')
  AND (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`datapoint_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `metrics`;

-- otel.logs
SELECT *
    FROM (SELECT IF((`log`.`tenant_id` = 'acme'), `log_timestamp`, NULL) AS `time`,
  IF((`log`.`tenant_id` = 'acme'), IFNULL(observed_timestamp, log_timestamp), NULL) AS `observed_time`,
  IF((`log`.`tenant_id` = 'acme'), IFNULL(severity_number, 0), NULL) AS `severity_number`,
  IF((`log`.`tenant_id` = 'acme'), IFNULL(severity_text, ''), NULL) AS `severity_text`,
  IF((`log`.`tenant_id` = 'acme'), IFNULL(body, ''), NULL) AS `body`,
  IF((`log`.`tenant_id` = 'acme'), IFNULL(JSON_VALUE(log_attributes, '$."event.name"'), ''), NULL) AS `event_name`,
  IF((`log`.`tenant_id` = 'acme'), IFNULL(trace_id, ''), NULL) AS `trace_id`,
  IF((`log`.`tenant_id` = 'acme'), IFNULL(span_id, ''), NULL) AS `span_id`,
  IF((`log`.`tenant_id` = 'acme'), IFNULL(flags, 0), NULL) AS `flags`,
  IF((`log`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(resource_attributes, '$."service.name"'), JSON_VALUE(resource_attributes, '$."service"."name"'), ''), NULL) AS `service_name`,
  IF((`log`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(resource_attributes, '$."service.version"'), JSON_VALUE(resource_attributes, '$."service"."version"'), ''), NULL) AS `service_version`,
  IF((`log`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(resource_attributes, '$."deployment.environment.name"'), JSON_VALUE(resource_attributes, '$."deployment"."environment"."name"'), JSON_VALUE(resource_attributes, '$."deployment.environment"'), JSON_VALUE(resource_attributes, '$."deployment"."environment"'), ''), NULL) AS `deployment_environment`,
  IF((`log`.`tenant_id` = 'acme'), IFNULL(log_attributes, JSON '{}'), NULL) AS `attributes`,
  IF((`log`.`tenant_id` = 'acme'), IFNULL(resource_attributes, JSON '{}'), NULL) AS `resource_attributes`,
  IF((`log`.`tenant_id` = 'acme'), IFNULL(JSON_VALUE(instrumentation_scope, '$.name'), ''), NULL) AS `scope_name`,
  IF((`log`.`tenant_id` = 'acme'), IFNULL(JSON_VALUE(instrumentation_scope, '$.version'), ''), NULL) AS `scope_version`,
  IF((`log`.`tenant_id` = 'acme'), IFNULL(JSON_QUERY(instrumentation_scope, '$.attributes'), JSON '{}'), NULL) AS `scope_attributes`,
  IF((`log`.`tenant_id` = 'acme'), COALESCE(NULLIF(scope_schema_url, ''), resource_schema_url, ''), NULL) AS `schema_url`,
  IF((`log`.`tenant_id` = 'acme'), JSON_STRIP_NULLS(JSON_OBJECT('resource_schema_url', IF(scope_schema_url NOT IN ('', resource_schema_url), NULLIF(resource_schema_url, ''), NULL), 'dropped_attributes_count', CAST(NULLIF(dropped_attributes_count, 0) AS STRING))), NULL) AS `otlp_fields`
FROM `otel.log`
WHERE (`log`.`tenant_id` = 'acme')
  AND (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`log_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `logs`;
