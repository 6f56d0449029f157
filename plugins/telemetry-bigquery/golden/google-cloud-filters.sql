-- otel.spans, tenants by none, window open
FROM `trace._AllSpans`) AS `spans`;

-- otel.spans, tenants by none, window from
FROM `trace._AllSpans`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `spans`;

-- otel.spans, tenants by none, window both
FROM `trace._AllSpans`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `spans`;

-- otel.logs, tenants by none, window open
FROM `logs._AllLogs`) AS `logs`;

-- otel.logs, tenants by none, window from
FROM `logs._AllLogs`
WHERE (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `logs`;

-- otel.logs, tenants by none, window both
FROM `logs._AllLogs`
WHERE (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `logs`;

-- otel.spans, tenants by a column, window open
FROM `trace._AllSpans`
WHERE (`_AllSpans`.`tenant_id` = 'acme')) AS `spans`;

-- otel.spans, tenants by a column, window from
FROM `trace._AllSpans`
WHERE (`_AllSpans`.`tenant_id` = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `spans`;

-- otel.spans, tenants by a column, window both
FROM `trace._AllSpans`
WHERE (`_AllSpans`.`tenant_id` = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `spans`;

-- otel.logs, tenants by a column, window open
FROM `logs._AllLogs`
WHERE (`_AllLogs`.`tenant_id` = 'acme')) AS `logs`;

-- otel.logs, tenants by a column, window from
FROM `logs._AllLogs`
WHERE (`_AllLogs`.`tenant_id` = 'acme')
  AND (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `logs`;

-- otel.logs, tenants by a column, window both
FROM `logs._AllLogs`
WHERE (`_AllLogs`.`tenant_id` = 'acme')
  AND (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `logs`;

-- otel.spans, tenants by a column of integers, window open
FROM `trace._AllSpans`
WHERE (`_AllSpans`.`tenant` = 42)) AS `spans`;

-- otel.spans, tenants by a column of integers, window from
FROM `trace._AllSpans`
WHERE (`_AllSpans`.`tenant` = 42)
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `spans`;

-- otel.spans, tenants by a column of integers, window both
FROM `trace._AllSpans`
WHERE (`_AllSpans`.`tenant` = 42)
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `spans`;

-- otel.logs, tenants by a column of integers, window open
FROM `logs._AllLogs`
WHERE (`_AllLogs`.`tenant` = 42)) AS `logs`;

-- otel.logs, tenants by a column of integers, window from
FROM `logs._AllLogs`
WHERE (`_AllLogs`.`tenant` = 42)
  AND (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `logs`;

-- otel.logs, tenants by a column of integers, window both
FROM `logs._AllLogs`
WHERE (`_AllLogs`.`tenant` = 42)
  AND (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `logs`;

-- otel.spans, tenants by a resource attribute, window open
FROM `trace._AllSpans`
WHERE (JSON_VALUE(IFNULL(resource.attributes, JSON '{}'), '$."service.namespace"') = 'acme')) AS `spans`;

-- otel.spans, tenants by a resource attribute, window from
FROM `trace._AllSpans`
WHERE (JSON_VALUE(IFNULL(resource.attributes, JSON '{}'), '$."service.namespace"') = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `spans`;

-- otel.spans, tenants by a resource attribute, window both
FROM `trace._AllSpans`
WHERE (JSON_VALUE(IFNULL(resource.attributes, JSON '{}'), '$."service.namespace"') = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `spans`;

-- otel.logs, tenants by a resource attribute, window open
FROM `logs._AllLogs`
WHERE (JSON_VALUE(IFNULL(resource.labels, JSON '{}'), '$."service.namespace"') = 'acme')) AS `logs`;

-- otel.logs, tenants by a resource attribute, window from
FROM `logs._AllLogs`
WHERE (JSON_VALUE(IFNULL(resource.labels, JSON '{}'), '$."service.namespace"') = 'acme')
  AND (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `logs`;

-- otel.logs, tenants by a resource attribute, window both
FROM `logs._AllLogs`
WHERE (JSON_VALUE(IFNULL(resource.labels, JSON '{}'), '$."service.namespace"') = 'acme')
  AND (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `logs`;

-- otel.spans, tenants by an attribute, window open
FROM `trace._AllSpans`
WHERE (JSON_VALUE(IFNULL(attributes, JSON '{}'), '$."tenant.id"') = 'acme')) AS `spans`;

-- otel.spans, tenants by an attribute, window from
FROM `trace._AllSpans`
WHERE (JSON_VALUE(IFNULL(attributes, JSON '{}'), '$."tenant.id"') = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `spans`;

-- otel.spans, tenants by an attribute, window both
FROM `trace._AllSpans`
WHERE (JSON_VALUE(IFNULL(attributes, JSON '{}'), '$."tenant.id"') = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `spans`;

-- otel.logs, tenants by an attribute, window open
FROM `logs._AllLogs`
WHERE (JSON_VALUE(IFNULL(labels, JSON '{}'), '$."tenant.id"') = 'acme')) AS `logs`;

-- otel.logs, tenants by an attribute, window from
FROM `logs._AllLogs`
WHERE (JSON_VALUE(IFNULL(labels, JSON '{}'), '$."tenant.id"') = 'acme')
  AND (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `logs`;

-- otel.logs, tenants by an attribute, window both
FROM `logs._AllLogs`
WHERE (JSON_VALUE(IFNULL(labels, JSON '{}'), '$."tenant.id"') = 'acme')
  AND (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `logs`;

-- otel.spans, tenants by an expression, window open
FROM `trace._AllSpans`
WHERE ((SPLIT(tenant, '/')[OFFSET(0)]) = 'acme')) AS `spans`;

-- otel.spans, tenants by an expression, window from
FROM `trace._AllSpans`
WHERE ((SPLIT(tenant, '/')[OFFSET(0)]) = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `spans`;

-- otel.spans, tenants by an expression, window both
FROM `trace._AllSpans`
WHERE ((SPLIT(tenant, '/')[OFFSET(0)]) = 'acme')
  AND (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `spans`;

-- otel.logs, tenants by an expression, window open
FROM `logs._AllLogs`
WHERE ((SPLIT(tenant, '/')[OFFSET(0)]) = 'acme')) AS `logs`;

-- otel.logs, tenants by an expression, window from
FROM `logs._AllLogs`
WHERE ((SPLIT(tenant, '/')[OFFSET(0)]) = 'acme')
  AND (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `logs`;

-- otel.logs, tenants by an expression, window both
FROM `logs._AllLogs`
WHERE ((SPLIT(tenant, '/')[OFFSET(0)]) = 'acme')
  AND (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `logs`;

-- otel.spans, tenants by a dataset, window open
FROM `otel_acme._AllSpans`) AS `spans`;

-- otel.spans, tenants by a dataset, window from
FROM `otel_acme._AllSpans`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `spans`;

-- otel.spans, tenants by a dataset, window both
FROM `otel_acme._AllSpans`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `spans`;

-- otel.logs, tenants by a dataset, window open
FROM `otel_acme._AllLogs`) AS `logs`;

-- otel.logs, tenants by a dataset, window from
FROM `otel_acme._AllLogs`
WHERE (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `logs`;

-- otel.logs, tenants by a dataset, window both
FROM `otel_acme._AllLogs`
WHERE (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `logs`;

-- otel.spans, tenants by a table, window open
FROM `trace.acme__AllSpans`) AS `spans`;

-- otel.spans, tenants by a table, window from
FROM `trace.acme__AllSpans`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `spans`;

-- otel.spans, tenants by a table, window both
FROM `trace.acme__AllSpans`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `spans`;

-- otel.logs, tenants by a table, window open
FROM `logs.acme__AllLogs`) AS `logs`;

-- otel.logs, tenants by a table, window from
FROM `logs.acme__AllLogs`
WHERE (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `logs`;

-- otel.logs, tenants by a table, window both
FROM `logs.acme__AllLogs`
WHERE (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `logs`;

-- otel.spans, tenants by a connection, window open
FROM `trace._AllSpans`) AS `spans`;

-- otel.spans, tenants by a connection, window from
FROM `trace._AllSpans`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `spans`;

-- otel.spans, tenants by a connection, window both
FROM `trace._AllSpans`
WHERE (`start_time`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`start_time`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `spans`;

-- otel.logs, tenants by a connection, window open
FROM `logs._AllLogs`) AS `logs`;

-- otel.logs, tenants by a connection, window from
FROM `logs._AllLogs`
WHERE (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00') AS `logs`;

-- otel.logs, tenants by a connection, window both
FROM `logs._AllLogs`
WHERE (`timestamp`) >= TIMESTAMP '2026-03-01 12:00:00.123+00'
  AND (`timestamp`) < TIMESTAMP '2026-03-02 00:00:00.000+00') AS `logs`;
