import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { otelTables, type ColumnType, type TableName } from '../../../../src/contract/telemetry/index.ts';

const types: Readonly<Record<ColumnType, string>> = {
  timestamp: 'timestamptz',
  string: 'text',
  int64: 'bigint',
  float64: 'double precision',
  boolean: 'boolean',
  map: 'jsonb',
  'int64[]': 'bigint[]',
  'float64[]': 'double precision[]',
  events: 'jsonb',
  links: 'jsonb',
  exemplars: 'jsonb',
  quantiles: 'jsonb',
};

const values: Readonly<Record<ColumnType, string>> = {
  timestamp: "now() - interval '17 minutes' * n",
  string: "'own' || n % 3",
  int64: 'n * 1000003',
  float64: 'n * 1.5',
  boolean: 'n % 2 = 0',
  map: `jsonb_build_object('http.route', '/own', 'secret', 'own', 'http.response.status_code', '200')`,
  'int64[]': 'ARRAY[n, 2]::bigint[]',
  'float64[]': 'ARRAY[n, 0.5]::double precision[]',
  events: `jsonb_build_array(jsonb_build_object('name', 'own', 'time', now(), 'attributes', '{"secret": "own"}'::jsonb))`,
  links: "'[]'::jsonb",
  exemplars: "'[]'::jsonb",
  quantiles: `'[{"quantile": 0.5, "value": 2}]'::jsonb`,
};

/** A database of its own on a PostgreSQL server, with telemetry of one organization as plain tables. */
export class TestServer {
  readonly client: pg.Client;
  readonly #admin: pg.Client;
  readonly #database: string;

  private constructor(admin: pg.Client, client: pg.Client, database: string) {
    this.#admin = admin;
    this.client = client;
    this.#database = database;
  }

  /** Undefined where there is no server, unless one is required. */
  static async open(): Promise<TestServer | undefined> {
    const connectionString = process.env['TEST_POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';
    const admin = new pg.Client({ connectionString, connectionTimeoutMillis: 3_000 });
    try {
      await admin.connect();
    } catch (error) {
      if (process.env['REQUIRE_SERVICES'] === '1') throw error;
      process.stderr.write('not run: what asks a PostgreSQL server (TEST_POSTGRES_URL, 127.0.0.1:5432)\n');
      return undefined;
    }
    const database = `sl_gate_${randomBytes(6).toString('hex')}`;
    await admin.query(`CREATE DATABASE ${database}`);
    const url = new URL(connectionString);
    url.pathname = `/${database}`;
    const client = new pg.Client({ connectionString: url.href, options: '-c timezone=UTC -c statement_timeout=5000' });
    await client.connect();
    await client.query('CREATE SCHEMA otel; SET search_path = pg_catalog; SET standard_conforming_strings = on');
    for (const { name, columns } of Object.values(otelTables)) {
      const definitions = columns.map((column) => `${column.name} ${types[column.type]}`);
      await client.query(`CREATE TABLE otel.${name} (${definitions.join(', ')})`);
      const row = columns.map((column) => values[column.type]);
      await client.query(`INSERT INTO otel.${name} SELECT ${row.join(', ')} FROM generate_series(1, 120) AS n`);
    }
    return new TestServer(admin, client, database);
  }

  async close(): Promise<void> {
    await this.client.end();
    await this.#admin.query(`DROP DATABASE ${this.#database} WITH (FORCE)`);
    await this.#admin.end();
  }
}

/** What stands for a telemetry table in these tests. */
export const relation = (table: TableName) => `(SELECT * FROM otel.${table})`;
