import { beforeAll, describe, expect, it } from '@jest/globals';
import { sqlHelpers } from '../../../src/telemetry/query/helpers.ts';
import { openGate, type PostgresGate } from './index.ts';

let gate: PostgresGate;
beforeAll(async () => {
  gate = await openGate(sqlHelpers);
});

describe('a statement of few rows', () => {
  it.each([
    ['SELECT name FROM otel.spans LIMIT 10', true],
    ['SELECT name FROM otel.spans LIMIT 0', true],
    ['SELECT service_name, count(*) FROM otel.spans GROUP BY service_name', true],
    ['SELECT name, count(*) FROM otel.spans GROUP BY 1 ORDER BY 2 DESC LIMIT 1000', true],
    ['WITH w AS (SELECT * FROM otel.spans) SELECT name FROM w LIMIT 5', true],
    ['SELECT name FROM otel.spans', false],
    ['SELECT name FROM otel.spans LIMIT 1001', false],
    ['SELECT trace_id, count(*) FROM otel.spans GROUP BY trace_id LIMIT 100000', false],
    ['SELECT name FROM (SELECT name FROM otel.spans LIMIT 5) AS s', false],
    ['SELECT name FROM otel.spans GROUP BY name UNION ALL SELECT body FROM otel.logs', false],
  ])('%s: %s', async (sql, few) => {
    expect(gate.template(gate.check(await gate.parse(sql))).saysFewRows).toBe(few);
  });
});
