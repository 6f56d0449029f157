import type { Finding } from '../../../src/contract/index.ts';
import { identifier } from '../quote.ts';
import { textOf } from '../text-of.ts';
import type { PhysicalTable } from '../setup/physical-tables.ts';
import { attempt } from './attempt.ts';
import type { Send } from './attempt.ts';

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
export async function grantFindings(send: Send, tables: readonly PhysicalTable[]): Promise<readonly Finding[]> {
  const user = await userName(send);
  const beyond: string[] = [];
  for (const { database, table } of tables) {
    const path = `${identifier(database)}.${identifier(table)}`;
    for (const privilege of onTables) if (await has(send, privilege, path)) beyond.push(`${privilege} ON ${path}`);
  }
  for (const privilege of anywhere) if (await has(send, privilege, '*.*')) beyond.push(`${privilege} ON *.*`);
  const wide: string[] = [];
  const listed = await grants(send);
  if (listed === undefined) {
    const detail = 'The server does not say what the user was granted.';
    return [{ check: 'write access', status: 'warn', detail, hint: 'Look at SHOW GRANTS as an administrator.' }];
  }
  for (const grant of listed) {
    const [, privileges = '', on = ''] = /^GRANT (.+) ON (.+?) TO /.exec(grant) ?? [];
    const others = privileges
      .replaceAll(/\([^)]*\)/g, '')
      .split(', ')
      .filter((one) => one !== '' && !/^(SELECT|SHOW.*|USAGE)$/.test(one));
    if (others.length > 0) beyond.push(`${others.join(', ')} ON ${on}`);
    if (privileges.startsWith('SELECT') && on.endsWith('*')) wide.push(on);
  }
  const revoke = (what: readonly string[]) =>
    `${[...new Set(what)].map((one) => `REVOKE ${one} FROM ${user};`).join(' ')}`;
  return [
    beyond.length === 0
      ? { check: 'write access', status: 'ok', detail: 'The user may read, and write or change nothing.' }
      : {
          check: 'write access',
          status: 'fail',
          detail: `The user may do more than read: ${[...new Set(beyond)].slice(0, 8).join('; ')}.`,
          hint: revoke(beyond),
        },
    wide.length === 0
      ? { check: 'tables granted', status: 'ok', detail: 'The user may read single tables, not whole databases.' }
      : {
          check: 'tables granted',
          status: 'warn',
          detail: `The user may read every table of ${[...new Set(wide)].join(', ')}; only the gate keeps queries from those that are not mapped.`,
          hint: `Grant the mapped tables (sightline telemetry setup --print), then: ${revoke(wide.map((on) => `SELECT ON ${on}`))}`,
        },
  ];
}

async function has(send: Send, privilege: string, on: string): Promise<boolean> {
  const outcome = await attempt(send, `CHECK GRANT ${privilege} ON ${on}`);
  return outcome.kind === 'done' && outcome.rows.some((row) => Number(Object.values(row)[0]) === 1);
}

async function grants(send: Send): Promise<readonly string[] | undefined> {
  const outcome = await attempt(send, 'SHOW GRANTS');
  return outcome.kind === 'done' ? outcome.rows.map((row) => textOf(Object.values(row)[0])) : undefined;
}

export async function userName(send: Send): Promise<string> {
  const outcome = await attempt(send, 'SELECT currentUser() AS name');
  return outcome.kind === 'done' ? identifier(textOf(outcome.rows[0]?.['name'])) : 'the user';
}
