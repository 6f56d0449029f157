import { judged, type Finding } from '../../../src/contract/telemetry/index.ts';
import { identifier, textOf } from '../quote.ts';
import type { PhysicalTable } from '../setup/physical-tables.ts';
import { revoking, unproven, attempt, isUnknownSyntax, type Send, type ProbeOptions } from './attempt.ts';

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
  tables: readonly PhysicalTable[],
): Promise<readonly Finding[]> {
  const { send } = options;
  const user = await userName(send);
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
    writeAccess(options, user, [...new Set(beyond)], isSettled && listed !== undefined),
    judged('tables granted', wide.length === 0, {
      ok: 'The user may read single tables, not whole databases.',
      status: 'warn',
      detail: `The user may read every table of ${[...new Set(wide)].slice(0, 8).join(', ')}; only the gate keeps queries from those that are not mapped.`,
      hint: `Grant the mapped tables (sightline telemetry setup --print), then: ${revoking(wide.map((on) => revoke(`SELECT ON ${on}`, user)))}`,
    }),
  ];
}

function writeAccess(
  options: Pick<ProbeOptions, 'isolation'>,
  user: string,
  beyond: readonly string[],
  isSettled: boolean,
): Finding {
  const check = 'write access';
  if (beyond.length > 0) {
    const detail = `The user may do more than read: ${beyond.slice(0, 8).join('; ')}.`;
    return { check, status: 'fail', detail, hint: revoking(beyond.map((grant) => revoke(grant, user))) };
  }
  return isSettled
    ? { check, status: 'ok', detail: 'The user may read, and write or change nothing.' }
    : unproven(options, check, 'The server did not say what the user was granted.');
}

function revoke(grant: string, user: string): string {
  return `REVOKE ${grant} FROM ${user};`;
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

export async function userName(send: Send): Promise<string> {
  const outcome = await attempt(send, 'SELECT currentUser() AS name');
  return outcome.kind === 'done' ? identifier(textOf(outcome.rows[0]?.['name'])) : 'the user';
}
