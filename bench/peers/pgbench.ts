import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Login } from './database.ts';

/** The server has few more than those that the contenders hold, and more would not make it faster. */
export const mostConnections = 16;

/** Transactions a second that PostgreSQL's own client gets, with prepared statements; undefined where it is not installed. */
export async function pgbench(
  directory: string,
  { host, port, user, password, database }: Login,
  sql: string,
  connections: number,
  seconds: number,
): Promise<number | undefined> {
  const script = join(directory, 'pgbench.sql');
  await writeFile(script, `${sql};\n`);
  const server = ['-h', host, '-p', String(port), '-U', user];
  const load = [
    '-n',
    '-M',
    'prepared',
    '-c',
    String(Math.min(connections, mostConnections)),
    '-j',
    '1',
    '-T',
    String(seconds),
    '-f',
    script,
  ];
  try {
    const env = { ...process.env, PGPASSWORD: password };
    const { stdout } = await promisify(execFile)('pgbench', [...server, ...load, database], { env });
    return Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
