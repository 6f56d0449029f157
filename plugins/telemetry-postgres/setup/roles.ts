import {
  mappingFor,
  tableNames,
  type SetupScript,
  type ResolvedMapping,
  type Tenant,
} from '../../../src/contract/telemetry/index.ts';
import { quoteName, quoteText } from '../types.ts';

const qualified = /^("(?:[^"]|"")+"|\w+)\.(?:"(?:[^"]|"")+"|\w+)$/;

/** Whether a source is a table by its name, and not one of each tenant whose name is not known here. */
export function isNamed(from: string): boolean {
  return !from.includes('{tenant}') && qualified.test(from);
}

/** SELECT on what the mappings read, where it is tables; for anything else a reminder. */
export function grantsOn(mappings: readonly ResolvedMapping[], role: string): readonly string[] {
  const sources = mappings.flatMap(({ tables }) => tableNames.flatMap((table) => tables[table] ?? []));
  return [...new Set(sources.map(({ from }) => from))].flatMap((from) => {
    const schema = isNamed(from) ? qualified.exec(from)?.[1] : undefined;
    return schema === undefined
      ? [`-- Grant ${quoteName(role)} SELECT on what this reads: ${from.replaceAll(/\s+/g, ' ')}`]
      : [`GRANT USAGE ON SCHEMA ${schema} TO ${quoteName(role)};`, `GRANT SELECT ON ${from} TO ${quoteName(role)};`];
  });
}

/** One for each tenant that has tables of its own, where they are listed. */
export function mappingsOf(mapping: ResolvedMapping, tenants: readonly Tenant[]): readonly ResolvedMapping[] {
  return tenants.length > 0 ? tenants.map((tenant) => mappingFor(mapping, tenant)) : [mapping];
}

export interface RolesOptions {
  readonly gateway: string;
  readonly owner?: string;
  readonly writer?: string;
  readonly connectionLimit: number;
  readonly statementTimeoutMs: number;
  readonly tempFileLimitMb: number;
}

const harmless = 'NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';

/** Logins that can do no more than they must. psql asks for the passwords as variables: `psql -v gateway_password=…`. */
export function rolesScript(options: RolesOptions): SetupScript {
  const { gateway, owner, writer, connectionLimit, statementTimeoutMs, tempFileLimitMb } = options;
  const role = quoteName(gateway);
  const sql = [
    create(gateway),
    `ALTER ROLE ${role} LOGIN PASSWORD :'gateway_password' ${harmless} NOINHERIT CONNECTION LIMIT ${connectionLimit};`,
    `ALTER ROLE ${role} SET default_transaction_read_only = on;`,
    `ALTER ROLE ${role} SET statement_timeout = ${quoteText(`${statementTimeoutMs}ms`)};`,
    `ALTER ROLE ${role} SET idle_in_transaction_session_timeout = ${quoteText(`${statementTimeoutMs + 60_000}ms`)};`,
    `ALTER ROLE ${role} SET search_path = pg_catalog;`,
    '-- Only a superuser may set this one: it ends a query that would fill the disk.',
    `ALTER ROLE ${role} SET temp_file_limit = ${quoteText(`${tempFileLimitMb}MB`)};`,
    ...(owner === undefined ? [] : [create(owner), `ALTER ROLE ${quoteName(owner)} NOLOGIN ${harmless};`]),
    ...(writer === undefined
      ? []
      : [
          create(writer),
          `ALTER ROLE ${quoteName(writer)} LOGIN PASSWORD :'writer_password' ${harmless} NOINHERIT CONNECTION LIMIT ${connectionLimit};`,
        ]),
  ];
  return {
    title: `Roles. Run by a superuser: psql -v gateway_password=…${writer === undefined ? '' : ' -v writer_password=…'}`,
    sql: sql.join('\n'),
  };
}

function create(role: string): string {
  return `DO $do$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = ${quoteText(role)}) THEN CREATE ROLE ${quoteName(role)}; END IF; END $do$;`;
}

/**
 * Functions of the catalog that everybody may call, and that reach beyond a query's own rows: other sessions, counts of whole
 * tables, large objects, which even a transaction that only reads may write before PostgreSQL 16.
 */
export const publicFunctions = '^(pg_(cancel|terminate)_backend|pg_stat_get_.+|lo_.+|loread|lowrite)$';

/** Views and functions of extensions that show a login the statements of all its sessions, for whichever tenant they ran. */
export const statementStatistics = '^pg_stat_(statements|monitor)';

/** What PostgreSQL grants to everybody in a database, and a gateway has no need of. */
export function hardeningScript(gateway: string): SetupScript {
  const sql = [
    'REVOKE CREATE ON SCHEMA public FROM PUBLIC;',
    'DO $do$',
    'DECLARE target text;',
    'BEGIN',
    "  EXECUTE format('REVOKE TEMPORARY, CREATE ON DATABASE %I FROM PUBLIC', current_database());",
    `  EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), ${quoteText(gateway)});`,
    '  FOR target IN',
    "    SELECT p.oid::regprocedure::text FROM pg_proc AS p WHERE p.pronamespace = 'pg_catalog'::regnamespace",
    `    AND p.proname ~ ${quoteText(publicFunctions)} OR p.proname ~ ${quoteText(statementStatistics)}`,
    '  LOOP',
    "    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', target);",
    "    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO pg_monitor', target);",
    '  END LOOP;',
    '  FOR target IN',
    `    SELECT oid::regclass::text FROM pg_class WHERE relkind = 'v' AND relname ~ ${quoteText(statementStatistics)}`,
    '  LOOP',
    "    EXECUTE format('REVOKE SELECT ON %s FROM PUBLIC', target);",
    "    EXECUTE format('GRANT SELECT ON %s TO pg_monitor', target);",
    '  END LOOP;',
    'END $do$;',
  ];
  return {
    title:
      'What everybody may do in this database. Run by a superuser; it holds for all roles here, so grant back what another one needs.',
    sql: sql.join('\n'),
  };
}
