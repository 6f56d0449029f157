import { randomBytes } from 'node:crypto';
import type { PostgresServer } from '../../test/support/postgres.ts';
import { createWarehouse, type TestWarehouse } from '../../plugins/telemetry-postgres/support/warehouse.ts';
import { cellBytes } from './lines.ts';

export interface Login {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

const spans = 10_000;

/** A warehouse as our setup scripts make it, empty, with the pool that an installation has. */
export function emptyWarehouse(server: PostgresServer): Promise<TestWarehouse> {
  return createWarehouse(server, { pool: {} });
}

/** Gives the organization its rows, an hour old, and one log record with a long text. */
export async function fill(server: PostgresServer, database: string, organization: string): Promise<void> {
  await server.admin(
    `INSERT INTO telemetry.spans (organization, time, trace_id, span_id, service_name, name, kind, status_code, duration_nano)
     SELECT '${organization}', now() - interval '1 hour' + i * interval '1 ms', md5(i::text), left(md5(i::text), 16),
       'service-' || i % 10, 'GET /api/v1/things/' || i % 20, 'SERVER', 'OK', 5000000 + i FROM generate_series(1, ${spans}) AS i;
     INSERT INTO telemetry.logs (organization, time, service_name, body)
     VALUES ('${organization}', now() - interval '1 hour', 'service-1', repeat('x', ${cellBytes}));
     ANALYZE telemetry.spans; ANALYZE telemetry.logs`,
    database,
  );
}

/** A login that reads the tables themselves, and can do nothing else. */
export async function readOnlyLogin(server: PostgresServer, database: string): Promise<Login> {
  const [user, password] = [`peer_${randomBytes(5).toString('hex')}`, randomBytes(12).toString('hex')];
  await server.admin(
    `CREATE ROLE ${user} LOGIN PASSWORD '${password}' NOSUPERUSER;
     ALTER ROLE ${user} SET default_transaction_read_only = on;
     GRANT CONNECT ON DATABASE ${database} TO ${user};
     GRANT USAGE ON SCHEMA telemetry TO ${user};
     GRANT SELECT ON telemetry.spans, telemetry.logs TO ${user}`,
    database,
  );
  return { host: server.host, port: server.port, user, password, database };
}
