import { SightlineError } from '../../../src/contract/core/index.ts';
import {
  isTenant,
  madeFrom,
  otelTables,
  tableNames,
  type PhysicalColumns,
  type SetupScript,
  type Tenant,
} from '../../../src/contract/telemetry/index.ts';
import { ask, physicalColumns } from '../catalog.ts';
import type { PostgresConfig } from '../config.ts';
import { namesOf, resolveTables } from '../layout.ts';
import { GrammarError, Parser } from '../gate/parser.ts';
import { wrong, type OperationsOptions } from '../settings.ts';
import { typeName } from '../relation.ts';
import { quoteName } from '../types.ts';
import type { Warehouses } from '../warehouses.ts';
import { exporterColumns } from '../presets/exporter.ts';
import { objections, type Role } from './guard.ts';
import { grantsOn, mappingsOf, hardeningScript, rolesScript, tablesOf, type RolesOptions } from './roles.ts';
import { indexesScript, positionsTable, tablesScript } from './tables.ts';
import { viewsScript } from './views.ts';

/**
 * What an administrator runs, in this order and in one transaction, and can run again. The tables are looked at where the
 * database can be reached; our own need not be there yet. Throws config_invalid where a role of one of the names is another's.
 */
export async function setupScripts(
  { config, kind, host }: OperationsOptions,
  warehouses: Warehouses,
  signal: AbortSignal,
): Promise<readonly SetupScript[]> {
  const gateway = loginOf(config);
  const own = config.ingest.enabled;
  const { owner, schema, privateSchema } = config.boundary;
  const writer = own && config.ingest.url !== undefined ? userOf(config.ingest.url) : undefined;
  const { boundary, organizations } = config.tenancy;
  const physical = own ? async () => assumed : lookedAt(warehouses, signal);
  const mapping = await resolveTables(config, host, physical);
  const tenants = 'template' in boundary ? Object.values(organizations ?? {}).map(checkedTenant) : [];
  const mappings = mappingsOf(mapping, tenants);
  const read = await tablesOf(mappings);
  const quoted = (...names: readonly string[]) => names.map(quoteName).join('.');
  const names = namesOf(config);
  const inSchema = (table: string) => quoted(names['schema'] ?? '', table);
  const roles: RolesOptions = {
    gateway: {
      name: gateway,
      rights: {
        relations: new Map(
          (kind === 'views'
            ? tableNames.map((table) => quoted(schema, table))
            : [...read.values()].flatMap((tables) => tables ?? [])
          ).map((name) => [name, 'SELECT']),
        ),
        functions: kind === 'views' ? [quoted(privateSchema, 'current_org')] : [],
      },
    },
    ...(kind === 'views' && { owner: { name: owner, owns: [schema, privateSchema] } }),
    ...(writer !== undefined && {
      writer: {
        name: writer,
        rights: {
          relations: new Map([
            ...tableNames.map((table) => [inSchema(names[table] ?? table), 'SELECT INSERT DELETE'] as const),
            [inSchema(positionsTable), 'SELECT INSERT UPDATE'],
          ]),
          functions: [],
        },
      },
    }),
    connectionLimit: 2 * config.pool.max + 5,
    statementTimeoutMs: config.statementTimeoutSeconds * 1_000,
    tempFileLimitMb: config.tempFileLimitMb,
  };
  for (const role of [roles.gateway, roles.owner, roles.writer]) {
    if (role !== undefined) await expectFree(role, warehouses, signal);
  }
  const indexes = own ? undefined : indexesScript(mappings);
  return [
    beginning(gateway, [
      'gateway_password',
      ...(kind === 'views' ? ['boundary_secret'] : []),
      ...(writer === undefined ? [] : ['writer_password']),
    ]),
    rolesScript(roles),
    ...(writer !== undefined && boundary.mode === 'column'
      ? [tablesScript({ names, organization: boundary, writer })]
      : []),
    kind === 'views'
      ? viewsScript(
          {
            mapping,
            boundary,
            tenants,
            schema,
            privateSchema,
            owner,
            gateway,
            made: madeFrom(config, tenants),
            grants: grantsOn(read, owner),
          },
          host.mapping,
        )
      : // Where there are no views, the gateway reads the tables themselves.
        { title: 'What the gateway reads. Run by the owner of the tables.', sql: grantsOn(read, gateway).join('\n') },
    { title: 'End of the transaction.', sql: '\\if :in_transaction\n\\else\nCOMMIT;\n\\endif' },
    ...(indexes === undefined ? [] : [indexes]),
    hardeningScript(),
  ];
}

/** One transaction, with or without `psql -1`: two statements have the same number only inside of one. */
function beginning(gateway: string, variables: readonly string[]): SetupScript {
  return {
    title: `For psql, as a superuser: psql ${variables.map((name) => `-v ${name}=…`).join(' ')} -f setup.sql DATABASE
-- All of it happens or nothing. The gateway then logs in as ${quoteName(gateway)}: name it in telemetry.url.`,
    sql: [
      '\\set ON_ERROR_STOP on',
      '\\set QUIET on',
      'SELECT pg_current_xact_id()::text AS setup_id \\gset',
      "SELECT pg_current_xact_id()::text = :'setup_id' AS in_transaction \\gset",
      '\\if :in_transaction',
      '\\else',
      'BEGIN;',
      '\\endif',
      'SET LOCAL client_min_messages = warning;',
    ].join('\n'),
  };
}

async function expectFree(role: Role, { main }: Warehouses, signal: AbortSignal): Promise<void> {
  const rows = await ask(main, objections(role), [], signal).catch(() => []);
  signal.throwIfAborted();
  if (rows.length === 0) return;
  throw wrong(
    `The role ${quoteName(role.name)} is there already and ${rows.map(([reason]) => reason).join(', ')}.`,
    'It would lose that. Choose a name that the server does not know: telemetry.boundary.login for the gateway, boundary.owner for what owns the views, the user in ingest.url for the writer.',
  );
}

const assumed: ReadonlyMap<string, string> = new Map([
  ...tableNames.flatMap((table) => otelTables[table].columns.map(({ name, type }) => [name, typeName(type)] as const)),
  ...exporterColumns,
]);

/** Before the scripts have made the gateway's login, nobody can look: then the presets are as they usually are. */
function lookedAt(warehouses: Warehouses, signal: AbortSignal): PhysicalColumns {
  const physical = physicalColumns(warehouses.main, signal);
  return async (table) => {
    try {
      return await physical(table);
    } catch {
      signal.throwIfAborted();
      return assumed;
    }
  };
}

function checkedTenant(value: string): Tenant {
  if (isTenant(value) && /^[A-Za-z0-9_-]{1,64}$/.test(value)) return value;
  throw new SightlineError(
    'config_invalid',
    'telemetry.tenancy.organizations: a tenant in a name has only letters, digits, _ and -.',
  );
}

/** Never of `url`: that may be the login of an administrator who looks around. */
function loginOf({ boundary, connections, tenancy }: PostgresConfig): string {
  const [first] = Object.values(connections);
  return tenancy.boundary.mode === 'connection' && first !== undefined ? userOf(first) : boundary.login;
}

function userOf(url: string): string {
  return decodeURIComponent(new URL(url).username);
}

/** The mapping over tables as they would be, and each piece of SQL by PostgreSQL's own grammar. Throws config_invalid. */
export async function checkMapping({ config, host }: OperationsOptions): Promise<void> {
  await resolveTables(config, host, async () => assumed);
  const { boundary } = config.tenancy;
  const pieces: (readonly [key: string, sql: string])[] = [];
  if (boundary.mode === 'expression') pieces.push(['tenancy.boundary.expression', `(${boundary.expression})`]);
  for (const table of tableNames) {
    const source = config.mapping.tables[table];
    if (source === undefined || source === false) continue;
    const key = `mapping.tables.${table}`;
    if (source.from !== undefined) pieces.push([`${key}.from`, `FROM ${source.from}`]);
    if (source.where !== undefined) pieces.push([`${key}.where`, `(${source.where})`]);
    for (const [column, sql] of Object.entries(source.columns)) pieces.push([`${key}.columns.${column}`, `(${sql})`]);
    source.timeBounds?.forEach((sql, index) => pieces.push([`${key}.timeBounds.${index}`, `(${sql})`]));
  }
  const parser = new Parser();
  for (const [key, sql] of pieces) {
    const filled = sql.replaceAll('{tenant}', '_').replaceAll(/\{(?:start|end)\}/g, 'now()');
    try {
      await parser.parse(`SELECT ${filled}`);
    } catch (error) {
      if (!(error instanceof GrammarError)) throw error;
      throw wrong(
        `telemetry.${key} is no SQL of PostgreSQL: ${error.message}.`,
        'Write one expression, or one FROM item.',
      );
    }
  }
}
