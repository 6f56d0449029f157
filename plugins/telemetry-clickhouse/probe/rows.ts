import { isTenant, tenantType, type Finding, type Tenant } from '../../../src/contract/telemetry/index.ts';
import { identifier, literal } from '../quote.ts';
import { roleName } from '../setup/access.ts';
import type { PhysicalTable } from '../setup/physical-tables.ts';
import { queryId, tenantExpression, tenantLiteral } from '../tenant.ts';
import { unproven, attempt, type Outcome, type Sender, type ProbeOptions } from './attempt.ts';

const setup = 'Run the row policies of sightline telemetry setup --print as an administrator';

/** Whether the server itself keeps organizations apart, asked past everything that the gateway writes into a statement. */
export async function rowFindings(options: ProbeOptions): Promise<readonly Finding[]> {
  const { boundary, server } = options;
  if (boundary.mode === 'none') {
    return [{ check: 'other organizations', status: 'ok', detail: 'The warehouse is of one organization alone.' }];
  }
  if (boundary.mode === 'connection') {
    const detail = 'Each organization has an account of its own; what that may read is for the server to say.';
    return [{ check: 'other organizations', status: 'ok', detail }];
  }
  if (server.by === 'none' || ('template' in boundary && server.by !== 'role')) return [singleLayer(options, [])];
  return 'template' in boundary ? await ownTables(options) : await sharedTables(options);
}

/** Rows of another than this organization, and rows for nobody: past the gate and the substitution, there must be none. */
async function sharedTables(options: ProbeOptions): Promise<readonly Finding[]> {
  const tenant = options.tenants[0] ?? (options.server.by === 'role' ? undefined : invented(options));
  if (tenant === undefined) return [unknownOrganizations(options)];
  const found: Readonly<Record<'leaks' | 'empty' | 'unsettled', string[]>> = { leaks: [], empty: [], unsettled: [] };
  const tables = await options.tables(undefined);
  for (const table of tables) {
    const name = `${table.database}.${table.table}`;
    const asked = await seenOf(options, table, tenant);
    if (asked.some((outcome) => outcome.kind === 'done' && outcome.rows.length > 0)) found.leaks.push(name);
    // A login that may read nothing proves no separation of rows.
    else if (asked.some(({ kind }) => kind === 'tried') || asked.every(({ kind }) => kind === 'refused'))
      found.unsettled.push(name);
    else if (!(await hasRows(options, table))) found.empty.push(name);
  }
  const { leaks, empty, unsettled } = found;
  const isEmpty = empty.length > 0 || tables.length === 0;
  const where = tables.length === 0 ? 'No mapped table is there' : `No row is known in ${empty.join(', ')}`;
  const uncertain: readonly Finding[] = isEmpty
    ? [
        {
          check: 'empty tables',
          status: 'warn',
          detail: `${where}, so nothing proves the boundary there yet.`,
          hint: 'Run sightline doctor again once telemetry has come in.',
        },
      ]
    : [];
  if (leaks.length > 0) return [singleLayer(options, leaks), ...uncertain];
  if (unsettled.length > 0) {
    const detail = `Whether the server keeps organizations apart could not be tried in ${unsettled.join(', ')}.`;
    return [unproven(options, 'other organizations', detail), ...uncertain];
  }
  const detail = "Past the gate, the server shows an organization nothing of another's, and nobody anything.";
  return [
    ...(tables.length === 0 ? [] : [{ check: 'other organizations', status: 'ok', detail } as const]),
    ...uncertain,
  ];
}

/** Rows for nobody, and rows of others for this organization: of the table, and of the table by another way to it. */
async function seenOf(options: ProbeOptions, table: PhysicalTable, tenant: Tenant): Promise<readonly Outcome[]> {
  const path = `${identifier(table.database)}.${identifier(table.table)}`;
  const merged = `merge(${literal(table.database)}, ${literal(`^${table.table.replaceAll(/[^\w]/g, '.')}$`)})`;
  const other = notOf(options, table, tenant);
  const all = other === undefined ? '' : ` WHERE ${other}`;
  const asked: Outcome[] = [];
  for (const from of [path, merged]) {
    asked.push(await attempt(options.send, `SELECT 1 AS there FROM ${from} LIMIT 1`, nobody()));
    asked.push(await attempt(options.send, `SELECT 1 AS there FROM ${from}${all} LIMIT 1`, senderOf(options, tenant)));
  }
  return asked;
}

function unknownOrganizations(options: ProbeOptions): Finding {
  const detail = 'No organization is known, so nothing proves the boundary between them.';
  return {
    ...unproven(options, 'other organizations', detail),
    hint: 'List them under telemetry.tenancy.organizations.',
  };
}

/** Where no organization is known: one that has no rows, so that whatever is seen is another's. */
function invented({ boundary }: ProbeOptions): Tenant | undefined {
  const value = { string: 'sightline-probe', int: '-1', uuid: '00000000-0000-0000-0000-000000000000' }[
    tenantType(boundary)
  ];
  return isTenant(value) ? value : undefined;
}

/** Each organization has tables of its own: a role must not read another's. */
async function ownTables(options: ProbeOptions): Promise<readonly Finding[]> {
  const [one, two] = options.tenants;
  if (one === undefined) return [unknownOrganizations(options)];
  if (two === undefined) {
    const detail = 'One organization is known, so nothing proves a boundary to another yet.';
    const hint = 'Run sightline doctor again once there is another under telemetry.tenancy.organizations.';
    return [{ check: 'other organizations', status: 'warn', detail, hint }];
  }
  const leaks: string[] = [];
  const unsettled: string[] = [];
  const tables = await options.tables(two);
  for (const { database, table } of tables) {
    const sql = `SELECT 1 AS there FROM ${identifier(database)}.${identifier(table)} LIMIT 1`;
    const outcome = await attempt(options.send, sql, senderOf(options, one));
    if (outcome.kind === 'done') leaks.push(`${database}.${table}`);
    if (outcome.kind === 'tried') unsettled.push(`${database}.${table}`);
  }
  if (leaks.length > 0) return [singleLayer(options, leaks)];
  if (unsettled.length > 0 || tables.length === 0) {
    const where = tables.length === 0 ? 'since its tables are not there' : `in ${unsettled.join(', ')}`;
    const detail = `Whether an organization reads another's tables could not be tried, ${where}.`;
    return [unproven(options, 'other organizations', detail)];
  }
  return [{ check: 'other organizations', status: 'ok', detail: "An organization's role reads no other's tables." }];
}

function singleLayer({ isolation }: ProbeOptions, leaks: readonly string[]): Finding {
  const where = leaks.length === 0 ? '' : ` in ${leaks.slice(0, 8).join(', ')}`;
  return {
    check: 'other organizations',
    status: isolation === 'degraded' ? 'warn' : 'fail',
    detail: `The server does not keep organizations apart${where}: the gate and what it writes into each statement are the only layer.`,
    hint: `${setup}${isolation === 'degraded' ? '.' : ', or accept a single layer: telemetry.isolation: degraded.'}`,
  };
}

export function senderOf({ server }: Pick<ProbeOptions, 'server'>, tenant: Tenant): Sender {
  const sender = { queryId: queryId(tenant, `probe-${crypto.randomUUID()}`) };
  return server.by === 'role' ? { ...sender, role: roleName(server.role, tenant) } : sender;
}

/** No role, and a query id that names no tenant. */
function nobody(): Sender {
  return { queryId: `sightline-probe-${crypto.randomUUID()}` };
}

/** Undefined where nothing in this table says whose a row is: then whatever is seen may be another's. */
function notOf({ boundary, json }: ProbeOptions, { source, alone }: PhysicalTable, tenant: Tenant): string | undefined {
  const expression = alone ? tenantExpression(boundary, source, json) : undefined;
  return expression === undefined ? undefined : `${expression} != ${tenantLiteral(boundary, tenant)}`;
}

async function hasRows({ send }: ProbeOptions, { database, table, local }: PhysicalTable): Promise<boolean> {
  const held = local ?? { database, table };
  const outcome = await attempt(
    send,
    `SELECT total_rows AS there FROM system.tables WHERE database = ${literal(held.database)} AND name = ${literal(held.table)}`,
  );
  return outcome.kind === 'done' && Number(outcome.rows[0]?.['there'] ?? 0) > 0;
}
