-- otel.spans
SELECT *
    FROM (SELECT IF((`_AllSpans`.`tenant_id` = 'acme'), `start_time`, NULL) AS `time`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), `start_time`, NULL) AS `start_time`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), `end_time`, NULL) AS `end_time`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), `duration_nano`, NULL) AS `duration_nano`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), `trace_id`, NULL) AS `trace_id`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), `span_id`, NULL) AS `span_id`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), IFNULL(parent_span_id, ''), NULL) AS `parent_span_id`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), IFNULL(trace_state, ''), NULL) AS `trace_state`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), 0, NULL) AS `flags`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), IFNULL(name, ''), NULL) AS `name`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), IFNULL(['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'][SAFE_OFFSET(kind)], 'UNSPECIFIED'), NULL) AS `kind`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), IFNULL(['UNSET', 'OK', 'ERROR'][SAFE_OFFSET(status.code)], 'UNSET'), NULL) AS `status_code`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), IFNULL(status.message, ''), NULL) AS `status_message`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(resource.attributes, '$."service.name"'), ''), NULL) AS `service_name`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(resource.attributes, '$."service.version"'), ''), NULL) AS `service_version`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(resource.attributes, '$."deployment.environment.name"'), JSON_VALUE(resource.attributes, '$."deployment.environment"'), ''), NULL) AS `deployment_environment`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), IFNULL(attributes, JSON '{}'), NULL) AS `attributes`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), IFNULL(resource.attributes, JSON '{}'), NULL) AS `resource_attributes`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), IFNULL(instrumentation_scope.name, ''), NULL) AS `scope_name`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), IFNULL(instrumentation_scope.version, ''), NULL) AS `scope_version`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), ARRAY(SELECT AS STRUCT entry.time AS time, IFNULL(entry.name, '') AS name, IFNULL(entry.attributes, JSON '{}') AS attributes
    FROM UNNEST(events) AS entry WITH OFFSET AS position ORDER BY position), NULL) AS `events`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), ARRAY(SELECT AS STRUCT IFNULL(entry.trace_id, '') AS trace_id, IFNULL(entry.span_id, '') AS span_id, IFNULL(entry.trace_state, '') AS trace_state, IFNULL(entry.attributes, JSON '{}') AS attributes
    FROM UNNEST(links) AS entry WITH OFFSET AS position ORDER BY position), NULL) AS `links`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), JSON '{}', NULL) AS `scope_attributes`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), '', NULL) AS `schema_url`,
  IF((`_AllSpans`.`tenant_id` = 'acme'), JSON '{}', NULL) AS `otlp_fields`
FROM `trace._AllSpans`
WHERE (`_AllSpans`.`tenant_id` = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `spans`;

-- otel.logs
SELECT *
    FROM (SELECT IF((`_AllLogs`.`tenant_id` = 'acme'), `timestamp`, NULL) AS `time`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), IFNULL(receive_timestamp, `timestamp`), NULL) AS `observed_time`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), CASE severity WHEN 'DEBUG' THEN 5 WHEN 'INFO' THEN 9 WHEN 'NOTICE' THEN 10 WHEN 'WARNING' THEN 13 WHEN 'ERROR' THEN 17 WHEN 'CRITICAL' THEN 18 WHEN 'ALERT' THEN 19 WHEN 'EMERGENCY' THEN 21 ELSE 0 END, NULL) AS `severity_number`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), IFNULL(severity, ''), NULL) AS `severity_text`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), COALESCE(text_payload, IF(json_payload IS NULL, NULL, TO_JSON_STRING(json_payload)), ''), NULL) AS `body`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(labels, '$."event.name"'), ''), NULL) AS `event_name`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), IFNULL(REGEXP_EXTRACT(trace, r'[^/]+$'), ''), NULL) AS `trace_id`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), IFNULL(span_id, ''), NULL) AS `span_id`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), IF(IFNULL(trace_sampled, FALSE), 1, 0), NULL) AS `flags`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(labels, '$."service.name"'), JSON_VALUE(resource.labels, '$.service_name'), JSON_VALUE(resource.labels, '$.container_name'), ''), NULL) AS `service_name`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(labels, '$."service.version"'), ''), NULL) AS `service_version`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), COALESCE(JSON_VALUE(labels, '$."deployment.environment.name"'), JSON_VALUE(labels, '$."deployment.environment"'), ''), NULL) AS `deployment_environment`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), IFNULL(labels, JSON '{}'), NULL) AS `attributes`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), IFNULL(resource.labels, JSON '{}'), NULL) AS `resource_attributes`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), '', NULL) AS `scope_name`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), '', NULL) AS `scope_version`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), JSON '{}', NULL) AS `scope_attributes`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), '', NULL) AS `schema_url`,
  IF((`_AllLogs`.`tenant_id` = 'acme'), JSON '{}', NULL) AS `otlp_fields`
FROM `logs._AllLogs`
WHERE (`_AllLogs`.`tenant_id` = 'acme')
  AND (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `logs`;
