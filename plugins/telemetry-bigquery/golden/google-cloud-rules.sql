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
  0 AS `flags`,
  IFNULL(name, '') AS `name`,
  IFNULL(['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'][SAFE_OFFSET(kind)], 'UNSPECIFIED') AS `kind`,
  IFNULL(['UNSET', 'OK', 'ERROR'][SAFE_OFFSET(status.code)], 'UNSET') AS `status_code`,
  COALESCE(JSON_VALUE(resource.attributes, '$."service.name"'), '') AS `service_name`,
  IF(COALESCE(JSON_VALUE(resource.attributes, '$."service.version"'), '') = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', COALESCE(JSON_VALUE(resource.attributes, '$."service.version"'), '')))), 1, 16)) AS `service_version`,
  COALESCE(JSON_VALUE(resource.attributes, '$."deployment.environment.name"'), JSON_VALUE(resource.attributes, '$."deployment.environment"'), '') AS `deployment_environment`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, IFNULL(attributes, JSON '{}')[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(IFNULL(attributes, JSON '{}'), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `attributes`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, IFNULL(resource.attributes, JSON '{}')[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(IFNULL(resource.attributes, JSON '{}'), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `resource_attributes`,
  IFNULL(instrumentation_scope.name, '') AS `scope_name`,
  '***' AS `scope_version`,
  ARRAY(SELECT AS STRUCT entry.time AS time, entry.name AS name, (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, entry.attributes[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(entry.attributes, 1)) AS rule_raw))))
WHERE rule != 'deny') AS attributes
    FROM UNNEST(ARRAY(SELECT AS STRUCT entry.time AS time, IFNULL(entry.name, '') AS name, IFNULL(entry.attributes, JSON '{}') AS attributes
    FROM UNNEST(events) AS entry WITH OFFSET AS position ORDER BY position)) AS entry WITH OFFSET AS position ORDER BY position) AS `events`,
  ARRAY(SELECT AS STRUCT entry.trace_id AS trace_id, entry.span_id AS span_id, entry.trace_state AS trace_state, (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, entry.attributes[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(entry.attributes, 1)) AS rule_raw))))
WHERE rule != 'deny') AS attributes
    FROM UNNEST(ARRAY(SELECT AS STRUCT IFNULL(entry.trace_id, '') AS trace_id, IFNULL(entry.span_id, '') AS span_id, IFNULL(entry.trace_state, '') AS trace_state, IFNULL(entry.attributes, JSON '{}') AS attributes
    FROM UNNEST(links) AS entry WITH OFFSET AS position ORDER BY position)) AS entry WITH OFFSET AS position ORDER BY position) AS `links`,
  JSON '{}' AS `scope_attributes`,
  '' AS `schema_url`,
  JSON '{}' AS `otlp_fields`
FROM `trace._AllSpans`) AS `spans`;

-- otel.logs
SELECT *
    FROM (SELECT `timestamp` AS `time`,
  IFNULL(receive_timestamp, `timestamp`) AS `observed_time`,
  CASE severity WHEN 'DEBUG' THEN 5 WHEN 'INFO' THEN 9 WHEN 'NOTICE' THEN 10 WHEN 'WARNING' THEN 13 WHEN 'ERROR' THEN 17 WHEN 'CRITICAL' THEN 18 WHEN 'ALERT' THEN 19 WHEN 'EMERGENCY' THEN 21 ELSE 0 END AS `severity_number`,
  IFNULL(severity, '') AS `severity_text`,
  COALESCE(text_payload, IF(json_payload IS NULL, NULL, TO_JSON_STRING(json_payload)), '') AS `body`,
  COALESCE(JSON_VALUE(labels, '$."event.name"'), '') AS `event_name`,
  IFNULL(REGEXP_EXTRACT(trace, r'[^/]+$'), '') AS `trace_id`,
  IFNULL(span_id, '') AS `span_id`,
  IF(IFNULL(trace_sampled, FALSE), 1, 0) AS `flags`,
  COALESCE(JSON_VALUE(labels, '$."service.name"'), JSON_VALUE(resource.labels, '$.service_name'), JSON_VALUE(resource.labels, '$.container_name'), '') AS `service_name`,
  IF(COALESCE(JSON_VALUE(labels, '$."service.version"'), '') = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', COALESCE(JSON_VALUE(labels, '$."service.version"'), '')))), 1, 16)) AS `service_version`,
  COALESCE(JSON_VALUE(labels, '$."deployment.environment.name"'), JSON_VALUE(labels, '$."deployment.environment"'), '') AS `deployment_environment`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, IFNULL(labels, JSON '{}')[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(IFNULL(labels, JSON '{}'), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `attributes`,
  (SELECT JSON_OBJECT(IFNULL(ARRAY_AGG(rule_key ORDER BY rule_key), CAST([] AS ARRAY<STRING>)), IFNULL(ARRAY_AGG(CASE rule WHEN 'mask' THEN JSON '"***"' WHEN 'hash' THEN TO_JSON(IF(rule_text = '', '', SUBSTR(TO_HEX(SHA256(CONCAT('0123456789abcdef0123456789abcdef', rule_text))), 1, 16))) ELSE rule_value END ORDER BY rule_key), CAST([] AS ARRAY<JSON>)))
    FROM (SELECT rule_key, rule_value, rule_text, CASE WHEN rule_key = 'user.id' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.id', CONCAT(rule_key, '.'))) THEN 'hash' WHEN STARTS_WITH(rule_key, 'user.') OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('user.', CONCAT(rule_key, '.'))) THEN 'deny' WHEN rule_key = 'db.statement' OR (LEFT(rule_text, 1) IN ('{', '[') AND STARTS_WITH('db.statement', CONCAT(rule_key, '.'))) THEN 'mask' ELSE 'keep' END AS rule
    FROM (SELECT rule_key, rule_value, IFNULL(LAX_STRING(rule_value), IFNULL(TO_JSON_STRING(rule_value), '')) AS rule_text
    FROM (SELECT rule_key, IFNULL(resource.labels, JSON '{}')[rule_key] AS rule_value
    FROM (SELECT IF(STARTS_WITH(rule_raw, '"'), SUBSTR(rule_raw, 2, LENGTH(rule_raw) - 2), rule_raw) AS rule_key
    FROM UNNEST(JSON_KEYS(IFNULL(resource.labels, JSON '{}'), 1)) AS rule_raw))))
WHERE rule != 'deny') AS `resource_attributes`,
  '' AS `scope_name`,
  '***' AS `scope_version`,
  JSON '{}' AS `scope_attributes`,
  '' AS `schema_url`,
  JSON '{}' AS `otlp_fields`
FROM `logs._AllLogs`) AS `logs`;
