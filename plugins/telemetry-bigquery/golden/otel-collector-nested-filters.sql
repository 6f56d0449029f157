-- otel.spans, tenants by a resource attribute, window open
FROM `otel.trace`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service"."namespace"') = 'acme')) AS `spans`;

-- otel.spans, tenants by a resource attribute, window from
FROM `otel.trace`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service"."namespace"') = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `spans`;

-- otel.spans, tenants by a resource attribute, window both
FROM `otel.trace`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service"."namespace"') = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `spans`;

-- otel.metrics, tenants by a resource attribute, window open
FROM `otel.metric`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service"."namespace"') = 'acme')) AS `metrics`;

-- otel.metrics, tenants by a resource attribute, window from
FROM `otel.metric`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service"."namespace"') = 'acme')
  AND (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `metrics`;

-- otel.metrics, tenants by a resource attribute, window both
FROM `otel.metric`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service"."namespace"') = 'acme')
  AND (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`datapoint_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `metrics`;

-- otel.logs, tenants by a resource attribute, window open
FROM `otel.log`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service"."namespace"') = 'acme')) AS `logs`;

-- otel.logs, tenants by a resource attribute, window from
FROM `otel.log`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service"."namespace"') = 'acme')
  AND (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `logs`;

-- otel.logs, tenants by a resource attribute, window both
FROM `otel.log`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service"."namespace"') = 'acme')
  AND (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`log_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `logs`;

-- otel.spans, tenants by an attribute, window open
FROM `otel.trace`
WHERE (JSON_VALUE(IFNULL(span_attributes, JSON '{}'), '$."tenant"."id"') = 'acme')) AS `spans`;

-- otel.spans, tenants by an attribute, window from
FROM `otel.trace`
WHERE (JSON_VALUE(IFNULL(span_attributes, JSON '{}'), '$."tenant"."id"') = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `spans`;

-- otel.spans, tenants by an attribute, window both
FROM `otel.trace`
WHERE (JSON_VALUE(IFNULL(span_attributes, JSON '{}'), '$."tenant"."id"') = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `spans`;

-- otel.metrics, tenants by an attribute, window open
FROM `otel.metric`
WHERE (JSON_VALUE(IFNULL(datapoint_attributes, JSON '{}'), '$."tenant"."id"') = 'acme')) AS `metrics`;

-- otel.metrics, tenants by an attribute, window from
FROM `otel.metric`
WHERE (JSON_VALUE(IFNULL(datapoint_attributes, JSON '{}'), '$."tenant"."id"') = 'acme')
  AND (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `metrics`;

-- otel.metrics, tenants by an attribute, window both
FROM `otel.metric`
WHERE (JSON_VALUE(IFNULL(datapoint_attributes, JSON '{}'), '$."tenant"."id"') = 'acme')
  AND (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`datapoint_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `metrics`;

-- otel.logs, tenants by an attribute, window open
FROM `otel.log`
WHERE (JSON_VALUE(IFNULL(log_attributes, JSON '{}'), '$."tenant"."id"') = 'acme')) AS `logs`;

-- otel.logs, tenants by an attribute, window from
FROM `otel.log`
WHERE (JSON_VALUE(IFNULL(log_attributes, JSON '{}'), '$."tenant"."id"') = 'acme')
  AND (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `logs`;

-- otel.logs, tenants by an attribute, window both
FROM `otel.log`
WHERE (JSON_VALUE(IFNULL(log_attributes, JSON '{}'), '$."tenant"."id"') = 'acme')
  AND (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`log_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `logs`;
