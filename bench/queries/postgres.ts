import pg from 'pg';
import { PostgresDialect } from '../../plugins/telemetry-postgres/dialect.ts';
import { createWarehouse } from '../../plugins/telemetry-postgres/support/warehouse.ts';
import { embeddedServer } from '../../test/support/postgres.ts';
import { readOnlyLogin } from '../peers/database.ts';
import { inserts, type Words } from './spans.ts';
import type { Engine } from './stage.ts';
import { createWorkspace } from './tool.ts';

const { write } = new PostgresDialect([]);

const words: Words = {
  divide: (number, by) => `(${number} / ${by})`,
  md5: (text) => `md5(${text})`,
  text: (value) => `(${value})::text`,
  map: (entries) =>
    `jsonb_build_object(${Object.entries(entries)
      .flatMap(([key, value]) => [write.literal(key), value])
      .join(', ')})`,
  time: (micros) => `('epoch'::timestamptz + (${micros}) * interval '1 microsecond')`,
  numbers: (first, count) => `generate_series(${first}::bigint, ${first + count - 1}) AS numbers(i)`,
};

/** Tables and views as the set-up makes them; the client reads the table itself by a login that may. */
export const postgres: Engine = {
  name: 'postgres',
  async start(data, stack, progress) {
    const server = await embeddedServer();
    stack.defer(() => server.stop());
    const warehouse = await createWarehouse(server, {
      pool: {},
      statementTimeoutSeconds: 3_600,
      // Sorting ten million durations takes more than the one gigabyte that a query may have.
      tempFileLimitMb: 100_000,
    });
    stack.defer(() => warehouse.cleanup());
    const workspace = await createWorkspace({ plugin: 'postgres', ...warehouse.config }, stack);
    const { organization } = workspace;
    const table = { name: 'telemetry.spans', others: { organization: write.literal(organization) } };
    let loaded = 0;
    for (const insert of inserts(words, data, table)) {
      const [[count] = []] = await server.admin(
        `WITH loaded AS (${insert} RETURNING 1) SELECT count(*) FROM loaded`,
        warehouse.database,
      );
      loaded += Number(count);
      progress(loaded);
    }
    // Else both come by themselves while it is measured, and the first to read writes what it learned of each row.
    await server.admin('VACUUM (FREEZE, ANALYZE) telemetry.spans', warehouse.database);
    await server.admin('CHECKPOINT');
    const tool = await workspace.open();

    const { user, password } = await readOnlyLogin(server, warehouse.database);
    const client = new pg.Client(server.url(warehouse.database, user, password));
    await client.connect();
    stack.defer(() => client.end());
    await client.query("SET TimeZone = 'UTC'");
    const types = { getTypeParser: () => (value: string) => value };
    return {
      title: `${server.name}, beside pg with rows as arrays and values as text`,
      words,
      write,
      own: {
        spans: 'telemetry.spans',
        conditions: [`organization = ${write.literal(organization)}`],
        async ask(sql) {
          const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array', types });
          return rows;
        },
      },
      tool,
    };
  },
};
