import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, startProgram, type Contender } from './contender.ts';
import type { Login } from './database.ts';
import type { Speech } from './lines.ts';

/** Bytebase DBHub, told to read only. */
export async function startDbhub(
  program: string,
  directory: string,
  { host, port: server, user, password, database }: Login,
  speech: Omit<Speech, 'tool'>,
): Promise<Contender> {
  const config = join(directory, 'dbhub.toml');
  const dsn = `postgres://${user}:${password}@${host}:${server}/${database}?sslmode=disable`;
  const toml = `[[sources]]
id = "pg"
dsn = "${dsn}"
[[tools]]
name = "execute_sql"
source = "pg"
readonly = true
max_rows = 10000
`;
  await writeFile(config, toml);
  const port = await freePort();
  const args = [program, '--config', config, '--transport', 'http', '--host', '127.0.0.1', '--port', String(port)];
  const { pid, stop } = await startProgram(process.execPath, args, { port, directory });
  return {
    name: 'DBHub 1.4',
    url: `http://127.0.0.1:${port}/mcp`,
    pid,
    speech: { ...speech, tool: 'execute_sql' },
    guards: 'read-only classifier and transaction, row cap; no sign-in',
    stop,
  };
}
