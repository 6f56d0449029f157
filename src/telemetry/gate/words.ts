/** Words that end an expression or a FROM item, so they cannot be an alias without AS. */
export const stopWords: ReadonlySet<string> = new Set(
  `ALL AND ANTI ANY ARRAY AS ASC ASOF BETWEEN BY CROSS DESC DISTINCT DIV ELSE END EXCEPT FILTER FINAL FOR FORMAT FROM FULL
  GLOBAL GROUP HAVING IGNORE ILIKE IN INNER INTERPOLATE INTERSECT INTO IS JOIN LEFT LIKE LIMIT MOD NOT NULLS NATURAL OFFSET
  ON OR ORDER OVER PARALLEL PARTITION PASTE PIVOT PREWHERE QUALIFY RANGE RESPECT RIGHT ROWS SAMPLE SELECT SEMI SETTINGS
  TABLESAMPLE THEN UNION UNPIVOT USING WHEN WHERE WINDOW WITH`.split(/\s+/),
);

/** Clauses that are never allowed, with their replacements. */
export const refusedClauses: Readonly<Record<string, string>> = {
  SETTINGS: 'Leave SETTINGS out: limits and settings are the service’s.',
  FORMAT: 'Leave FORMAT out: the result has its own format.',
  INTO: 'Leave INTO OUTFILE out: the rows come back as the result.',
  FINAL: 'Leave FINAL out: telemetry rows are never replaced.',
  SAMPLE: 'Leave SAMPLE out and narrow the time range, or use LIMIT.',
  TABLESAMPLE: 'Leave TABLESAMPLE out and narrow the time range, or use LIMIT.',
  PIVOT: 'Write one aggregate with a condition for each column.',
  UNPIVOT: 'Write a UNION ALL of the columns.',
  APPLY: 'Write the columns out.',
  FETCH: 'Write LIMIT n.',
  FOR: 'Leave FOR SYSTEM_TIME out and filter on time.',
  PASTE: 'Write a JOIN with a condition.',
  NATURAL: 'Write JOIN … USING (…).',
  PARALLEL: 'Leave PARALLEL WITH out.',
};

/** Statements that are no query, by their first word. */
export const writes: ReadonlySet<string> = new Set(
  `ALTER ANALYZE ATTACH BACKUP BEGIN CALL CHECK COMMIT COPY CREATE DECLARE DELETE DETACH DROP EXCHANGE EXECUTE EXPORT GRANT
  INSERT KILL LOAD MERGE MOVE OPTIMIZE RENAME REPLACE RESTORE REVOKE ROLLBACK SET SYSTEM TRUNCATE UNDROP UPDATE USE ASSERT
  RAISE IF LOOP WHILE FOR REPEAT BREAK START STOP PARALLEL`.split(/\s+/),
);

export const looks: Readonly<Record<string, string>> = {
  EXPLAIN: 'Send the SELECT itself.',
  SHOW: 'Send SHOW TABLES by itself, or DESCRIBE otel.spans for its columns.',
  DESCRIBE: 'Send DESCRIBE otel.spans, DESCRIBE otel.metrics or DESCRIBE otel.logs by itself.',
  DESC: 'Send DESCRIBE otel.spans, DESCRIBE otel.metrics or DESCRIBE otel.logs by itself.',
  EXISTS: 'Select from the table: otel.spans, otel.metrics and otel.logs are always there.',
  WATCH: 'Send a SELECT.',
  FROM: 'Begin with SELECT: SELECT … FROM otel.spans.',
  TABLE: 'Write SELECT * FROM otel.spans LIMIT 10.',
  VALUES: 'Begin with SELECT.',
};

export const timeUnits: ReadonlySet<string> = new Set(
  'NANOSECOND MICROSECOND MILLISECOND SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR'.split(' '),
);

/** What the date functions take as a bare word. */
export const dateParts: ReadonlySet<string> = new Set([
  ...timeUnits,
  ...'DAYOFWEEK DAYOFYEAR ISOWEEK ISOYEAR SUNDAY MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY'.split(' '),
]);

/** What EXTRACT takes. */
export const extractParts: ReadonlySet<string> = new Set([
  ...timeUnits,
  ...'DAYOFWEEK DAYOFYEAR ISOWEEK ISOYEAR DATE TIME'.split(' '),
]);
