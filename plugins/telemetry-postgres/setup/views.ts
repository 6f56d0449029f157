import {
  mappingFor,
  tableNames,
  type MappingHelpers,
  type ResolvedMapping,
  type SetupScript,
  type TableName,
  type TableSource,
  type TenancyConfig,
  type Tenant,
} from '../../../src/contract/telemetry/index.ts';
import { tenantPredicate } from '../boundary.ts';
import { quoteName, quoteText } from '../types.ts';
import { relationOf, writer } from '../relation.ts';
import { tokenSetting, windowSettings } from '../steps.ts';

export interface ViewsOptions {
  readonly mapping: ResolvedMapping;
  readonly boundary: TenancyConfig['boundary'];
  /** Tenants that have tables or schemas of their own. */
  readonly tenants: readonly Tenant[];
  readonly schema: string;
  readonly privateSchema: string;
  readonly owner: string;
  readonly gateway: string;
  /** Stays with the views. */
  readonly made: string;
  /** What lets the owner read the tables. */
  readonly grants: readonly string[];
}

/** The views that the gateway reads instead of the tables, and the function that returns the current tenant. */
export function viewsScript(options: ViewsOptions, helpers: MappingHelpers): SetupScript {
  const { mapping, schema, privateSchema, owner, gateway } = options;
  const [views, hidden, role, login] = [schema, privateSchema, owner, gateway].map(quoteName);
  const tables = tableNames.filter((table) => mapping.tables[table] !== undefined);
  const sql = [
    // The owner of the views reads the tables; the gateway never does.
    ...options.grants,
    `CREATE SCHEMA IF NOT EXISTS ${hidden} AUTHORIZATION ${role};`,
    `CREATE SCHEMA IF NOT EXISTS ${views} AUTHORIZATION ${role};`,
    `REVOKE ALL ON SCHEMA ${hidden}, ${views} FROM PUBLIC;`,
    `SET ROLE ${role};`,
    ...secret(`${hidden}.secret`),
    currentTenant(`${hidden}.current_org`, `${hidden}.secret`),
    `REVOKE ALL ON FUNCTION ${hidden}.current_org() FROM PUBLIC;`,
    `GRANT EXECUTE ON FUNCTION ${hidden}.current_org() TO ${login};`,
    ...tables.map((table) => view(table, options, helpers)),
    `COMMENT ON SCHEMA ${views} IS ${quoteText(options.made)};`,
    `GRANT USAGE ON SCHEMA ${views} TO ${login};`,
    ...tables.map((table) => `GRANT SELECT ON ${views}.${quoteName(table)} TO ${login};`),
    'RESET ROLE;',
  ];
  return {
    title: 'The boundary between organizations. Run by a superuser.',
    sql: sql.join('\n'),
  };
}

/** Two rows of keys at most are wanted: the current secret's and, while gateways change over, the one before. */
function secret(table: string): readonly string[] {
  const pad = (byte: number) =>
    `(SELECT string_agg(set_byte('\\x00'::bytea, 0, CASE WHEN i < 32 THEN get_byte(k.key, i) ELSE 0 END # ${byte}), ''::bytea ORDER BY i) FROM generate_series(0, 63) AS i)`;
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (inner_key bytea PRIMARY KEY, outer_key bytea NOT NULL, added timestamptz NOT NULL DEFAULT now());`,
    `REVOKE ALL ON ${table} FROM PUBLIC;`,
    `INSERT INTO ${table} (inner_key, outer_key) SELECT ${pad(0x36)}, ${pad(0x5c)} FROM (SELECT sha256(convert_to(:'boundary_secret', 'UTF8')) AS key) AS k ON CONFLICT DO NOTHING;`,
    `DELETE FROM ${table} WHERE inner_key NOT IN (SELECT inner_key FROM ${table} ORDER BY added DESC LIMIT 2);`,
  ];
}

/** How the views refuse a token. */
export const noTenant = 'the session names no tenant';

/** HMAC-SHA256 from the built-in sha256. Comparing digests of the digests says nothing by its time. */
function currentTenant(name: string, table: string): string {
  return `CREATE OR REPLACE FUNCTION ${name}() RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
  token constant text := coalesce(current_setting(${quoteText(tokenSetting)}, true), '');
  expiry constant text := split_part(token, '|', 1);
  signature constant text := split_part(token, '|', 2);
  tenant constant text := substr(token, length(expiry) + length(signature) + 3);
BEGIN
  IF expiry ~ '^[0-9]{1,12}$' AND signature ~ '^[0-9a-f]{64}$' AND tenant <> '' THEN
    IF to_timestamp(expiry::bigint) > now() AND EXISTS (
      SELECT FROM ${table} AS s
      WHERE sha256(sha256(s.outer_key || sha256(s.inner_key || convert_to(expiry || '|' || tenant, 'UTF8')))) = sha256(decode(signature, 'hex'))
    ) THEN
      RETURN tenant;
    END IF;
  END IF;
  RAISE EXCEPTION '${noTenant}' USING ERRCODE = 'insufficient_privilege';
END
$body$;`;
}

function view(table: TableName, options: ViewsOptions, helpers: MappingHelpers): string {
  const { mapping, boundary, tenants, schema, privateSchema } = options;
  const name = `${quoteName(schema)}.${quoteName(table)}`;
  const current = `(SELECT ${quoteName(privateSchema)}.current_org())`;
  // A view is a barrier itself, and an OFFSET in it would keep conditions from the indexes.
  const plain = {
    ...writer,
    filter: (tenant: string | undefined, others: readonly string[]) => where(tenant, others),
    timestamp: (time: Date) => (time === farEnds.start ? ofSession('start') : ofSession('end')),
  };
  const relation = (mapped: ResolvedMapping, tenant: (source: TableSource) => string) => {
    // Beneath a barrier, only what stands in the view itself reaches sort keys and partitions.
    const bounded = mapped.tables[table]?.some(({ timeBounds }) => timeBounds !== undefined) ?? false;
    return relationOf(helpers, mapped, table, bounded ? { window: farEnds } : {}, tenant, plain);
  };
  const body =
    tenants.length > 0
      ? tenants.map((tenant) => relation(mappingFor(mapping, tenant), () => `${current} = ${quoteText(tenant)}`))
      : [relation(mapping, (source) => tenantPredicate(boundary, source, current) ?? `${current} IS NOT NULL`)];
  return `DROP VIEW IF EXISTS ${name};\nCREATE VIEW ${name} WITH (security_barrier = true) AS\n${body.join('\nUNION ALL\n')};`;
}

/** Where a statement has no window: what nanoseconds in a bigint can say. */
const farEnds = { start: new Date('1680-01-01T00:00:00Z'), end: new Date('2262-01-01T00:00:00Z') };

/** Stable, so that the planner estimates with it and the executor leaves out partitions. */
function ofSession(end: 'start' | 'end'): string {
  return `coalesce(nullif(current_setting(${quoteText(windowSettings[end])}, true), ''), ${quoteText(farEnds[end].toISOString())})::timestamptz`;
}

function where(tenant: string | undefined, others: readonly string[]): string {
  return `WHERE ${[...(tenant === undefined ? [] : [tenant]), ...others].join(' AND ')}`;
}
