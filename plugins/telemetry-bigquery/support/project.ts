import type { OrganizationId } from '../../../src/contract/core/index.ts';
import type { TableName } from '../../../src/contract/telemetry/index.ts';
import type { Row } from '../../../test/contract/telemetry-rows.ts';
import type { TelemetryUnderTest } from '../../../test/contract/telemetry.ts';
import { ProjectDataset } from '../../../test/support/bigquery/project.ts';
import { acme, createOn, globex } from './harness.ts';

/** The plugin over a dataset of its own in a real project, by the machine's own credentials. */
export async function onProject(projectId: string): Promise<TelemetryUnderTest> {
  const location = process.env['BIGQUERY_LOCATION'] ?? 'US';
  const dataset = await ProjectDataset.create(projectId, location);
  const { telemetry, release } = await createOn({
    projectId,
    location,
    mapping: { preset: 'otel-collector', names: { dataset: dataset.name } },
  });
  const since = 'TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 1 HOUR)';
  return {
    component: telemetry,
    organizations: [acme, globex],
    write: (organizationId: OrganizationId, table: TableName, rows: readonly Row[]) =>
      dataset.write(organizationId === acme ? 'acme' : 'globex', table, rows),
    sql: {
      slow: 'SELECT COUNT(*) FROM UNNEST(GENERATE_ARRAY(1, 1000000)) AS a CROSS JOIN UNNEST(GENERATE_ARRAY(1, 1000000)) AS b WHERE MOD(a * b, 7) = 3',
      manyRows: 'SELECT n FROM UNNEST(GENERATE_ARRAY(1, 200000)) AS n',
      longText: `SELECT REPEAT('añ😀"', 50000) AS text`,
      bounded: [
        { sql: `SELECT name FROM otel.spans WHERE time > ${since}`, reaches: [{ start: { fromNowMs: -3_601_000 } }] },
        {
          sql: "SELECT name FROM otel.spans WHERE time >= TIMESTAMP '2026-03-01 12:00:00+00'",
          reaches: [{ start: { at: new Date('2026-03-01T12:00:00Z') } }],
        },
      ],
    },
    lacks: { logs: ['event_name'], metrics: ['scale'] },
    cleanup: async () => {
      await dataset.remove();
      await release();
    },
  };
}
