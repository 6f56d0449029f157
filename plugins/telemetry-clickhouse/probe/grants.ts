import { type Finding, judged, words } from '../../../src/contract/telemetry/index.ts';
import { identifier, literal, textOf } from '../quote.ts';
import type { PhysicalTable } from '../setup/physical-tables.ts';
import {
  attempt,
  isUnknownSyntax,
  isUnknownTable,
  type Login,
  type ProbeOptions,
  revoking,
  type Send,
  unproven,
} from './attempt.ts';

const onTables = ['INSERT', 'ALTER', 'DROP TABLE', 'TRUNCATE', 'OPTIMIZE'];
const anywhere = [
  'CREATE TABLE',
  'CREATE TEMPORARY TABLE',
  'CREATE DATABASE',
  'CREATE FUNCTION',
  'CREATE USER',
  'CREATE ROW POLICY',
  'DROP ROW POLICY',
  'KILL QUERY',
  'SYSTEM',
  'SHOW USERS',
];

/** What the user was granted beyond reading the mapped tables: asked of the server, nothing is written. */
export async function grantFindings(
  options: Pick<ProbeOptions, 'send' | 'isolation'>,
  login: Login,
  tables: readonly PhysicalTable[],
): Promise<readonly Finding[]> {
  const { send } = options;
  const beyond: string[] = [];
  let isSettled = true;
  const asked = [
    ...tables.flatMap(({ database, table }) =>
      onTables.map((privilege) => `${privilege} ON ${identifier(database)}.${identifier(table)}`),
    ),
    ...anywhere.map((privilege) => `${privilege} ON *.*`),
  ];
  const listed = await grants(send);
  for (const grant of asked) {
    const has = await hasGrant(send, grant, listed);
    if (has === true) beyond.push(grant);
    isSettled &&= has !== undefined;
  }
  const wide: string[] = [];
  for (const grant of listed ?? []) {
    const [, privileges = '', on = ''] = /^GRANT (.+) ON (.+?) TO /.exec(grant) ?? [];
    const others = privileges
      .replaceAll(/\([^)]*\)/g, '')
      .split(', ')
      .filter((one) => one !== '' && !/^(SELECT|SHOW.*|USAGE)$/.test(one));
    if (others.length > 0) beyond.push(`${others.join(', ')} ON ${on}`);
    if (privileges.startsWith('SELECT') && on.endsWith('*')) wide.push(on);
  }
  return [
    writeAccess(options, login, [...new Set(beyond)], isSettled && listed !== undefined),
    judged('tables granted', wide.length === 0, {
      ok: 'The user may read single tables, not whole databases.',
      status: 'warn',
      detail: `The user may read every table of ${[...new Set(wide)].slice(0, 8).join(', ')}; only the gate keeps queries from those that are not mapped.`,
      hint: `${login.isOwn ? 'Grant the mapped tables (sightline telemetry setup --print), then: ' : ''}${revoke(
        wide.map((on) => `SELECT ON ${on}`),
        login,
      )}`,
    }),
  ];
}

function writeAccess(
  options: Pick<ProbeOptions, 'isolation'>,
  login: Login,
  beyond: readonly string[],
  isSettled: boolean,
): Finding {
  const check = 'write access';
  if (beyond.length > 0) {
    const detail = `The user may do more than read: ${beyond.slice(0, 8).join('; ')}.`;
    return { check, status: 'fail', detail, hint: revoke(beyond, login) };
  }
  return isSettled
    ? { check, status: 'ok', detail: 'The user may read, and write or change nothing.' }
    : unproven(options, check, 'The server did not say what the user was granted.');
}

function revoke(grants: readonly string[], login: Login): string {
  return revoking(
    grants.map((grant) => `REVOKE ${grant} FROM ${login.user};`),
    login,
  );
}

async function hasGrant(
  send: Send,
  grant: string,
  listed: readonly string[] | undefined,
): Promise<boolean | undefined> {
  const outcome = await attempt(send, `CHECK GRANT ${grant}`);
  if (outcome.kind === 'done') return outcome.rows.some((row) => Number(Object.values(row)[0]) === 1);
  // Without the statement the list says it, unless roles hide behind it.
  const isListed = listed?.every((line) => / ON .+ TO /.test(line)) === true;
  return isUnknownSyntax(outcome) && isListed ? false : undefined;
}

async function grants(send: Send): Promise<readonly string[] | undefined> {
  const outcome = await attempt(send, 'SHOW GRANTS');
  return outcome.kind === 'done' ? outcome.rows.map((row) => textOf(Object.values(row)[0])) : undefined;
}

/** Hold other people's SQL, or who may do what. */
const secret = words('query_log query_thread_log query_views_log text_log users grants row_policies settings_profiles');

export async function systemFindings(
  options: Pick<ProbeOptions, 'send' | 'isolation'>,
  login: Login,
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
  return [hidden(options, login, readable, unsettled), await gateAlone(send, tables)];
}

function hidden(
  options: Pick<ProbeOptions, 'isolation'>,
  login: Login,
  readable: readonly string[],
  unsettled: readonly string[],
): Finding {
  const check = 'system tables';
  if (readable.length > 0) {
    return {
      check,
      status: 'fail',
      detail: `The user reads ${readable.join(', ')}: what others asked, or who may do what.`,
      hint: revoke(
        readable.map((name) => `SELECT ON ${name}`),
        login,
      ),
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
