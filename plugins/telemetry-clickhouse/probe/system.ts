import { words, type Finding } from '../../../src/contract/telemetry/index.ts';
import { identifier, literal } from '../quote.ts';
import type { PhysicalTable } from '../setup/physical-tables.ts';
import { revoking, unproven, attempt, isUnknownTable, type Send, type ProbeOptions } from './attempt.ts';
import { userName } from './grants.ts';

/** Hold other people's SQL, or who may do what. */
const secret = words('query_log query_thread_log query_views_log text_log users grants row_policies settings_profiles');

export async function systemFindings(
  options: Pick<ProbeOptions, 'send' | 'isolation'>,
  tables: readonly PhysicalTable[],
): Promise<readonly Finding[]> {
  const { send } = options;
  const readable: string[] = [];
  const unsettled: string[] = [];
  for (const table of secret) {
    const name = `system.${table}`;
    const outcome = await attempt(send, `SELECT 1 FROM ${name} LIMIT 1`);
    if (outcome.kind === 'done') readable.push(name);
    else if (outcome.kind === 'tried' && !isUnknownTable(outcome)) unsettled.push(name);
  }
  return [await hidden(options, readable, unsettled), await gateAlone(send, tables)];
}

async function hidden(
  options: Pick<ProbeOptions, 'send' | 'isolation'>,
  readable: readonly string[],
  unsettled: readonly string[],
): Promise<Finding> {
  const check = 'system tables';
  if (readable.length > 0) {
    const user = await userName(options.send);
    return {
      check,
      status: 'fail',
      detail: `The user reads ${readable.join(', ')}: what others asked, or who may do what.`,
      hint: revoking(readable.map((name) => `REVOKE SELECT ON ${name} FROM ${user};`)),
    };
  }
  return unsettled.length > 0
    ? unproven(options, check, `Whether the user reads ${unsettled.join(', ')} could not be tried.`)
    : { check, status: 'ok', detail: "Other people's statements and the users are hidden from the user." };
}

/** Rights that ClickHouse gives every user. Listed, so that operators do not overestimate the grants. */
async function gateAlone(send: Send, tables: readonly PhysicalTable[]): Promise<Finding> {
  const [table] = tables;
  const attempts: readonly (readonly [what: string, sql: string])[] = [
    ['its own running queries, for all organizations (system.processes)', 'SELECT 1 FROM system.processes LIMIT 1'],
    ['sizes of tables (system.parts)', 'SELECT 1 FROM system.parts LIMIT 1'],
    ['ending its own queries (KILL QUERY)', "KILL QUERY WHERE query_id = 'sightline-probe-nothing' TEST"],
    ...(table === undefined
      ? []
      : ([
          [
            'sort keys past row policies (mergeTreeIndex)',
            `SELECT 1 FROM mergeTreeIndex(${literal(table.database)}, ${literal(table.table)}) LIMIT 1`,
          ],
          [
            'columns of tables (SHOW CREATE)',
            `SHOW CREATE TABLE ${identifier(table.database)}.${identifier(table.table)}`,
          ],
        ] as const)),
  ];
  const allowed: string[] = [];
  for (const [what, sql] of attempts) if ((await attempt(send, sql)).kind === 'done') allowed.push(what);
  return {
    check: 'gate alone',
    status: 'ok',
    detail:
      allowed.length === 0
        ? 'The server refuses what else is known to tell of others.'
        : `ClickHouse grants every user ${allowed.join('; ')}. The gate refuses all of these.`,
  };
}
