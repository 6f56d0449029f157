-- otel.spans, tenants by none, window open
FROM `otel.trace`) AS `spans`;

-- otel.spans, tenants by none, window from
FROM `otel.trace`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `spans`;

-- otel.spans, tenants by none, window both
FROM `otel.trace`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `spans`;

-- otel.metrics, tenants by none, window open
FROM `otel.metric`) AS `metrics`;

-- otel.metrics, tenants by none, window from
FROM `otel.metric`
WHERE (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `metrics`;

-- otel.metrics, tenants by none, window both
FROM `otel.metric`
WHERE (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`datapoint_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `metrics`;

-- otel.logs, tenants by none, window open
FROM `otel.log`) AS `logs`;

-- otel.logs, tenants by none, window from
FROM `otel.log`
WHERE (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `logs`;

-- otel.logs, tenants by none, window both
FROM `otel.log`
WHERE (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`log_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `logs`;

-- otel.spans, tenants by a column, window open
FROM `otel.trace`
WHERE (`trace`.`tenant_id` = 'acme')) AS `spans`;

-- otel.spans, tenants by a column, window from
FROM `otel.trace`
WHERE (`trace`.`tenant_id` = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `spans`;

-- otel.spans, tenants by a column, window both
FROM `otel.trace`
WHERE (`trace`.`tenant_id` = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `spans`;

-- otel.metrics, tenants by a column, window open
FROM `otel.metric`
WHERE (`metric`.`tenant_id` = 'acme')) AS `metrics`;

-- otel.metrics, tenants by a column, window from
FROM `otel.metric`
WHERE (`metric`.`tenant_id` = 'acme')
  AND (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `metrics`;

-- otel.metrics, tenants by a column, window both
FROM `otel.metric`
WHERE (`metric`.`tenant_id` = 'acme')
  AND (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`datapoint_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `metrics`;

-- otel.logs, tenants by a column, window open
FROM `otel.log`
WHERE (`log`.`tenant_id` = 'acme')) AS `logs`;

-- otel.logs, tenants by a column, window from
FROM `otel.log`
WHERE (`log`.`tenant_id` = 'acme')
  AND (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `logs`;

-- otel.logs, tenants by a column, window both
FROM `otel.log`
WHERE (`log`.`tenant_id` = 'acme')
  AND (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`log_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `logs`;

-- otel.spans, tenants by a column of integers, window open
FROM `otel.trace`
WHERE (`trace`.`tenant` = 42)) AS `spans`;

-- otel.spans, tenants by a column of integers, window from
FROM `otel.trace`
WHERE (`trace`.`tenant` = 42)
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `spans`;

-- otel.spans, tenants by a column of integers, window both
FROM `otel.trace`
WHERE (`trace`.`tenant` = 42)
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `spans`;

-- otel.metrics, tenants by a column of integers, window open
FROM `otel.metric`
WHERE (`metric`.`tenant` = 42)) AS `metrics`;

-- otel.metrics, tenants by a column of integers, window from
FROM `otel.metric`
WHERE (`metric`.`tenant` = 42)
  AND (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `metrics`;

-- otel.metrics, tenants by a column of integers, window both
FROM `otel.metric`
WHERE (`metric`.`tenant` = 42)
  AND (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`datapoint_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `metrics`;

-- otel.logs, tenants by a column of integers, window open
FROM `otel.log`
WHERE (`log`.`tenant` = 42)) AS `logs`;

-- otel.logs, tenants by a column of integers, window from
FROM `otel.log`
WHERE (`log`.`tenant` = 42)
  AND (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `logs`;

-- otel.logs, tenants by a column of integers, window both
FROM `otel.log`
WHERE (`log`.`tenant` = 42)
  AND (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`log_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `logs`;

-- otel.spans, tenants by a resource attribute, window open
FROM `otel.trace`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service.namespace"') = 'acme')) AS `spans`;

-- otel.spans, tenants by a resource attribute, window from
FROM `otel.trace`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service.namespace"') = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `spans`;

-- otel.spans, tenants by a resource attribute, window both
FROM `otel.trace`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service.namespace"') = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `spans`;

-- otel.metrics, tenants by a resource attribute, window open
FROM `otel.metric`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service.namespace"') = 'acme')) AS `metrics`;

-- otel.metrics, tenants by a resource attribute, window from
FROM `otel.metric`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service.namespace"') = 'acme')
  AND (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `metrics`;

-- otel.metrics, tenants by a resource attribute, window both
FROM `otel.metric`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service.namespace"') = 'acme')
  AND (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`datapoint_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `metrics`;

-- otel.logs, tenants by a resource attribute, window open
FROM `otel.log`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service.namespace"') = 'acme')) AS `logs`;

-- otel.logs, tenants by a resource attribute, window from
FROM `otel.log`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service.namespace"') = 'acme')
  AND (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `logs`;

-- otel.logs, tenants by a resource attribute, window both
FROM `otel.log`
WHERE (JSON_VALUE(IFNULL(resource_attributes, JSON '{}'), '$."service.namespace"') = 'acme')
  AND (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`log_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `logs`;

-- otel.spans, tenants by an attribute, window open
FROM `otel.trace`
WHERE (JSON_VALUE(IFNULL(span_attributes, JSON '{}'), '$."tenant.id"') = 'acme')) AS `spans`;

-- otel.spans, tenants by an attribute, window from
FROM `otel.trace`
WHERE (JSON_VALUE(IFNULL(span_attributes, JSON '{}'), '$."tenant.id"') = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `spans`;

-- otel.spans, tenants by an attribute, window both
FROM `otel.trace`
WHERE (JSON_VALUE(IFNULL(span_attributes, JSON '{}'), '$."tenant.id"') = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `spans`;

-- otel.metrics, tenants by an attribute, window open
FROM `otel.metric`
WHERE (JSON_VALUE(IFNULL(datapoint_attributes, JSON '{}'), '$."tenant.id"') = 'acme')) AS `metrics`;

-- otel.metrics, tenants by an attribute, window from
FROM `otel.metric`
WHERE (JSON_VALUE(IFNULL(datapoint_attributes, JSON '{}'), '$."tenant.id"') = 'acme')
  AND (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `metrics`;

-- otel.metrics, tenants by an attribute, window both
FROM `otel.metric`
WHERE (JSON_VALUE(IFNULL(datapoint_attributes, JSON '{}'), '$."tenant.id"') = 'acme')
  AND (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`datapoint_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `metrics`;

-- otel.logs, tenants by an attribute, window open
FROM `otel.log`
WHERE (JSON_VALUE(IFNULL(log_attributes, JSON '{}'), '$."tenant.id"') = 'acme')) AS `logs`;

-- otel.logs, tenants by an attribute, window from
FROM `otel.log`
WHERE (JSON_VALUE(IFNULL(log_attributes, JSON '{}'), '$."tenant.id"') = 'acme')
  AND (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `logs`;

-- otel.logs, tenants by an attribute, window both
FROM `otel.log`
WHERE (JSON_VALUE(IFNULL(log_attributes, JSON '{}'), '$."tenant.id"') = 'acme')
  AND (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`log_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `logs`;

-- otel.spans, tenants by an expression, window open
FROM `otel.trace`
WHERE ((SPLIT(tenant, '/')[OFFSET(0)]) = 'acme')) AS `spans`;

-- otel.spans, tenants by an expression, window from
FROM `otel.trace`
WHERE ((SPLIT(tenant, '/')[OFFSET(0)]) = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `spans`;

-- otel.spans, tenants by an expression, window both
FROM `otel.trace`
WHERE ((SPLIT(tenant, '/')[OFFSET(0)]) = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `spans`;

-- otel.metrics, tenants by an expression, window open
FROM `otel.metric`
WHERE ((SPLIT(tenant, '/')[OFFSET(0)]) = 'acme')) AS `metrics`;

-- otel.metrics, tenants by an expression, window from
FROM `otel.metric`
WHERE ((SPLIT(tenant, '/')[OFFSET(0)]) = 'acme')
  AND (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `metrics`;

-- otel.metrics, tenants by an expression, window both
FROM `otel.metric`
WHERE ((SPLIT(tenant, '/')[OFFSET(0)]) = 'acme')
  AND (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`datapoint_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `metrics`;

-- otel.logs, tenants by an expression, window open
FROM `otel.log`
WHERE ((SPLIT(tenant, '/')[OFFSET(0)]) = 'acme')) AS `logs`;

-- otel.logs, tenants by an expression, window from
FROM `otel.log`
WHERE ((SPLIT(tenant, '/')[OFFSET(0)]) = 'acme')
  AND (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `logs`;

-- otel.logs, tenants by an expression, window both
FROM `otel.log`
WHERE ((SPLIT(tenant, '/')[OFFSET(0)]) = 'acme')
  AND (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`log_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `logs`;

-- otel.spans, tenants by a dataset, window open
FROM `otel_acme.trace`) AS `spans`;

-- otel.spans, tenants by a dataset, window from
FROM `otel_acme.trace`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `spans`;

-- otel.spans, tenants by a dataset, window both
FROM `otel_acme.trace`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `spans`;

-- otel.metrics, tenants by a dataset, window open
FROM `otel_acme.metric`) AS `metrics`;

-- otel.metrics, tenants by a dataset, window from
FROM `otel_acme.metric`
WHERE (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `metrics`;

-- otel.metrics, tenants by a dataset, window both
FROM `otel_acme.metric`
WHERE (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`datapoint_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `metrics`;

-- otel.logs, tenants by a dataset, window open
FROM `otel_acme.log`) AS `logs`;

-- otel.logs, tenants by a dataset, window from
FROM `otel_acme.log`
WHERE (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `logs`;

-- otel.logs, tenants by a dataset, window both
FROM `otel_acme.log`
WHERE (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`log_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `logs`;

-- otel.spans, tenants by a table, window open
FROM `otel.acme_trace`) AS `spans`;

-- otel.spans, tenants by a table, window from
FROM `otel.acme_trace`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `spans`;

-- otel.spans, tenants by a table, window both
FROM `otel.acme_trace`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `spans`;

-- otel.metrics, tenants by a table, window open
FROM `otel.acme_metric`) AS `metrics`;

-- otel.metrics, tenants by a table, window from
FROM `otel.acme_metric`
WHERE (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `metrics`;

-- otel.metrics, tenants by a table, window both
FROM `otel.acme_metric`
WHERE (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`datapoint_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `metrics`;

-- otel.logs, tenants by a table, window open
FROM `otel.acme_log`) AS `logs`;

-- otel.logs, tenants by a table, window from
FROM `otel.acme_log`
WHERE (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `logs`;

-- otel.logs, tenants by a table, window both
FROM `otel.acme_log`
WHERE (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`log_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `logs`;

-- otel.spans, tenants by a connection, window open
FROM `otel.trace`) AS `spans`;

-- otel.spans, tenants by a connection, window from
FROM `otel.trace`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `spans`;

-- otel.spans, tenants by a connection, window both
FROM `otel.trace`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `spans`;

-- otel.metrics, tenants by a connection, window open
FROM `otel.metric`) AS `metrics`;

-- otel.metrics, tenants by a connection, window from
FROM `otel.metric`
WHERE (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `metrics`;

-- otel.metrics, tenants by a connection, window both
FROM `otel.metric`
WHERE (`datapoint_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`datapoint_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `metrics`;

-- otel.logs, tenants by a connection, window open
FROM `otel.log`) AS `logs`;

-- otel.logs, tenants by a connection, window from
FROM `otel.log`
WHERE (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))) AS `logs`;

-- otel.logs, tenants by a connection, window both
FROM `otel.log`
WHERE (`log_timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`log_timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00'
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(TIMESTAMP '2026-03-01 12:00:00.123+00', DAY), INTERVAL 1 DAY))
  AND (_PARTITIONTIME IS NULL OR _PARTITIONTIME < TIMESTAMP_ADD(TIMESTAMP '2026-03-02 00:00:00.000+00', INTERVAL 3 DAY))) AS `logs`;
