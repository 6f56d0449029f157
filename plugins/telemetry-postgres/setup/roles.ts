import {
  mappingFor,
  tableNames,
  text,
  type Json,
  type SetupScript,
  type ResolvedMapping,
  type Tenant,
} from '../../../src/contract/telemetry/index.ts';
import { quoteName, quoteText, schemaOf } from '../types.ts';
import { Parser } from '../gate/parser.ts';
import { only } from '../gate/tree.ts';
import { guard, type Role } from './guard.ts';

const qualified = /^("(?:[^"]|"")+"|\w+)\.(?:"(?:[^"]|"")+"|\w+)$/;

/** Whether a source is a table by its name, and not one of each tenant whose name is not known here. */
export function isNamed(from: string): boolean {
  return !from.includes('{tenant}') && qualified.test(from);
}

/**
 * The tables that sources read, by their quoted names: of a subquery or a join, those that stand in it with their schema.
 * Undefined for a source in which none does.
 */
export async function tablesOf(
  mappings: readonly ResolvedMapping[],
): Promise<ReadonlyMap<string, readonly string[] | undefined>> {
  const sources = mappings.flatMap(({ tables }) => tableNames.flatMap((table) => tables[table] ?? []));
  const parser = new Parser();
  const found = new Map<string, readonly string[] | undefined>();
  for (const { from } of sources) {
    if (found.has(from)) continue;
    const tree = await parser.parse(`SELECT FROM ${from.replaceAll('{tenant}', '_')}`).catch(() => null);
    const names = from.includes('{tenant}') ? [] : [...new Set(namesIn(tree))];
    found.set(from, names.length === 0 ? undefined : names);
  }
  return found;
}

function namesIn(value: Json | undefined): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const range = only('RangeVar', value);
  const [schema, name] = [text(range?.['schemaname']), text(range?.['relname'])];
  if (schema !== '' && name !== '') return [`${quoteName(schema)}.${quoteName(name)}`];
  return Object.values(value).flatMap((part: Json) => namesIn(part));
}

/** SELECT on what the mappings read, where it is tables; for anything else a reminder. */
export function grantsOn(tables: Awaited<ReturnType<typeof tablesOf>>, role: string): readonly string[] {
  const to = `TO ${quoteName(role)};`;
  const lines = [...tables].flatMap(([from, names]) =>
    names === undefined
      ? [`-- Grant ${quoteName(role)} SELECT on what this reads: ${from.replaceAll(/\s+/g, ' ')}`]
      : names.flatMap((name) => [`GRANT USAGE ON SCHEMA ${schemaOf(name)} ${to}`, `GRANT SELECT ON ${name} ${to}`]),
  );
  return [...new Set(lines)];
}

/** One for each tenant that has tables of its own, where they are listed. */
export function mappingsOf(mapping: ResolvedMapping, tenants: readonly Tenant[]): readonly ResolvedMapping[] {
  return tenants.length > 0 ? tenants.map((tenant) => mappingFor(mapping, tenant)) : [mapping];
}

export interface RolesOptions {
  readonly gateway: Role;
  /** Owns views and secret; nobody logs in as it. */
  readonly owner?: Role;
  readonly writer?: Role;
  readonly connectionLimit: number;
  readonly statementTimeoutMs: number;
  readonly tempFileLimitMb: number;
}

/** Logins that can do no more than they must. psql asks for the passwords as variables: `psql -v gateway_password=…`. */
export function rolesScript(options: RolesOptions): SetupScript {
  const { gateway, owner, writer, connectionLimit, statementTimeoutMs, tempFileLimitMb } = options;
  const role = quoteName(gateway.name);
  const login = `NOINHERIT CONNECTION LIMIT ${connectionLimit}`;
  const roles = [gateway, ...(owner === undefined ? [] : [owner]), ...(writer === undefined ? [] : [writer])];
  const sql = [
    '-- Nothing is changed if a role is there already that is more than the set-up makes it.',
    ...roles.map(guard),
    ...roles.map(({ name }) => create(name)),
    `ALTER ROLE ${role} LOGIN PASSWORD :'gateway_password' ${login};`,
    `ALTER ROLE ${role} SET default_transaction_read_only = on;`,
    `ALTER ROLE ${role} SET statement_timeout = ${quoteText(`${statementTimeoutMs}ms`)};`,
    `ALTER ROLE ${role} SET idle_in_transaction_session_timeout = ${quoteText(`${statementTimeoutMs + 60_000}ms`)};`,
    `ALTER ROLE ${role} SET search_path = pg_catalog;`,
    '-- Only a superuser may set this one: it ends a query that would fill the disk.',
    `ALTER ROLE ${role} SET temp_file_limit = ${quoteText(`${tempFileLimitMb}MB`)};`,
    ...(writer === undefined
      ? []
      : [`ALTER ROLE ${quoteName(writer.name)} LOGIN PASSWORD :'writer_password' ${login};`]),
    ...[gateway, ...(writer === undefined ? [] : [writer])].map(
      ({ name }) =>
        `DO $do$ BEGIN EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), ${quoteText(name)}); END $do$;`,
    ),
  ];
  return { title: 'Roles. Run by a superuser.', sql: sql.join('\n') };
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
export function hardeningScript(): SetupScript {
  const sql = [
    'DO $do$',
    'DECLARE target text;',
    'BEGIN',
    '  REVOKE CREATE ON SCHEMA public FROM PUBLIC;',
    "  EXECUTE format('REVOKE TEMPORARY, CREATE ON DATABASE %I FROM PUBLIC', current_database());",
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
    everybody: true,
  };
}
