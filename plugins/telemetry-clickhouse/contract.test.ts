import * as runner from '@jest/globals';
import { telemetryContract } from '../../test/contract/telemetry.ts';
import { legitimateContract } from '../../test/contract/telemetry/legitimate.ts';
import { NamedServer } from '../../test/support/clickhouse/named-server.ts';
import { sharedServer } from '../../test/support/clickhouse/shared-server.ts';
import { withEngine } from '../../test/support/clickhouse/with-engine.ts';
import { ownWarehouse, type TestServer } from './support/harness.ts';
import { legitimate } from './support/legitimate.ts';

withEngine(() => contracts(sharedServer()));

const named = NamedServer.fromEnvironment();
if (named !== undefined) runner.describe('the server of CLICKHOUSE_URL', () => contracts(() => named));

function contracts(server: () => TestServer): void {
  legitimateContract(runner, () => ownWarehouse(server()), legitimate);

  telemetryContract(runner, async () => ({
    ...(await ownWarehouse(server())),
    // It is the start and the duration.
    lacks: { spans: ['end_time'] },
    sql: {
      slow: 'SELECT count() FROM numbers(1000000000000) WHERE number % 7 = sipHash64(number)',
      manyRows: 'SELECT number FROM numbers(100000)',
      longText: "SELECT repeat('añ😀\"', 50000)",
      bounded: [
        {
          sql: "SELECT name FROM otel.spans WHERE time > now() - INTERVAL 1 HOUR AND kind = 'SERVER'",
          // now() is the beginning of a second.
          reaches: [{ start: { fromNowMs: -3_601_000 } }],
        },
        {
          sql: "SELECT s.name FROM otel.spans AS s JOIN otel.logs AS l ON l.trace_id = s.trace_id WHERE s.time < '2026-01-02'",
          reaches: [{ end: { at: new Date('2026-01-02') } }, {}],
        },
        { sql: "SELECT name FROM otel.spans WHERE time > '2026-01-01' OR name = 'x'", reaches: [{}] },
      ],
    },
  }));
}
