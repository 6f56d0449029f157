import { type Finding, judged } from '../../../src/contract/telemetry/index.ts';
import { identifier, textOf } from '../quote.ts';
import { grantFindings, systemFindings } from './grants.ts';
import { attempt, isUnknownSyntax, type Login, type ProbeOptions, revoking, type Send } from './attempt.ts';
import { rowFindings } from './rows.ts';
import { settingFindings, setupFindings } from './settings.ts';

export type { ProbeOptions } from './attempt.ts';
export type { Send, Sender } from './attempt.ts';

/** Attempts as the gateway's user what must not succeed. Nothing is written, changed or ended, whatever it may do. */
export async function probeWarehouse(options: ProbeOptions): Promise<readonly Finding[]> {
  const { send, own } = options;
  const user = await userName(send);
  const login = { user, isOwn: user === identifier(own) };
  const tables = await options.tables(options.tenants[0]);
  return [
    ...(await rowFindings(options)),
    ...(await grantFindings(options, login, tables)),
    ...(await settingFindings(options, login)),
    ...(await setupFindings(options)),
    ...(await outsideFindings(send, login)),
    ...(await systemFindings(options, login, tables)),
  ];
}

async function userName(send: Send): Promise<string> {
  const outcome = await attempt(send, 'SELECT currentUser() AS name');
  return outcome.kind === 'done' ? identifier(textOf(outcome.rows[0]?.['name'])) : 'the user';
}

/** Nothing listens there, and nothing is named so. */
const nowhere = '127.0.0.1:1';
const nothing = 'sightline_probe_nothing';

/**
 * Ways out of the server, by the privilege that opens each. Planned, not run, where the engine needs no connection for a
 * plan; the others are aimed where nothing is. A success harms nobody, and none takes long.
 */
const ways: readonly (readonly [privilege: string, from: string])[] = [
  ['FILE', `file('${nothing}.csv', 'CSV', 'a String')`],
  ['URL', `url('http://${nowhere}/', 'CSV', 'a String')`],
  ['S3', `s3('http://${nowhere}/bucket/key', 'CSV', 'a String')`],
  ['AZURE', `azureBlobStorage('http://${nowhere}', 'container', 'blob', 'account', 'a2V5', 'CSV', 'auto', 'a String')`],
  ['HDFS', `hdfs('hdfs://${nowhere}/x', 'CSV', 'a String')`],
  ['REMOTE', `remote('${nowhere}', 'system', 'one')`],
  ['MYSQL', `mysql('${nowhere}', 'd', 't', 'u', 'p')`],
  ['POSTGRES', `postgresql('${nowhere}', 'd', 't', 'u', 'p')`],
  ['MONGO', `mongodb('${nowhere}', 'd', 't', 'u', 'p', 'a String')`],
  ['REDIS', `redis('${nowhere}', 'a', 'a String')`],
];

const temporary = [`executable('${nothing}.sh', 'CSV', 'a String')`, `dictionary('${nothing}')`];

async function outsideFindings(send: Send, login: Login): Promise<readonly Finding[]> {
  const open: { readonly what: string; readonly revoke: string }[] = [];
  const found = (from: string, privilege: string) =>
    open.push({ what: nameOf(from), revoke: `REVOKE ${privilege} ON *.* FROM ${login.user};` });
  const isOpen = async (from: string) => (await attempt(send, `EXPLAIN SELECT * FROM ${from}`)).kind !== 'refused';
  for (const [privilege, from] of ways) if (await isOpen(from)) found(from, privilege);
  if (await maySqlite(send)) found('sqlite()', 'SQLITE');
  for (const from of temporary) if (await isOpen(from)) found(from, 'CREATE TEMPORARY TABLE');
  return [
    judged('files and network', open.length === 0, {
      ok: 'The user reaches no file, URL or other server.',
      detail: `The user reaches out of the server by ${open.map(({ what }) => what).join(', ')}.`,
      hint: revoking(
        open.map(({ revoke }) => revoke),
        login,
      ),
    }),
    await fileFunction(send),
  ];
}

/**
 * Asked, not tried: the engine makes the file that sqlite() names before it looks at grants. A server too old to be asked
 * lists the grant, which is then found as one beyond reading.
 */
async function maySqlite(send: Send): Promise<boolean> {
  const outcome = await attempt(send, 'CHECK GRANT SQLITE ON *.*');
  if (outcome.kind !== 'done') return !isUnknownSyntax(outcome);
  return outcome.rows.some((row) => Number(Object.values(row)[0]) === 1);
}

/** Reads below the server's user_files by no privilege, so only the gate keeps it away. */
async function fileFunction(send: Send): Promise<Finding> {
  const outcome = await attempt(send, `SELECT file('${nothing}')`);
  return judged('file()', outcome.kind === 'refused', {
    ok: 'The function file() is refused.',
    status: 'warn',
    detail: 'The function file() reads files of the server: only the gate keeps queries from it.',
    hint: 'Keep the directory user_files of the server empty.',
  });
}

function nameOf(from: string): string {
  return `${from.slice(0, from.indexOf('('))}()`;
}
