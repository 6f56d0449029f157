import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, startProgram, type Contender } from './contender.ts';
import type { Login } from './database.ts';
import type { Speech } from './lines.ts';

/** Google's MCP Toolbox for Databases, with its own tool for any SQL. */
export async function startToolbox(
  program: string,
  directory: string,
  login: Login,
  speech: Omit<Speech, 'tool'>,
): Promise<Contender> {
  const config = join(directory, 'toolbox.yaml');
  const source = { kind: 'source', name: 'pg', type: 'postgres', ...login };
  const tool = {
    kind: 'tool',
    name: 'execute_sql',
    type: 'postgres-execute-sql',
    source: 'pg',
    description: 'Run one SQL statement against telemetry.',
  };
  // JSON is YAML.
  await writeFile(config, [source, tool].map((document) => JSON.stringify(document)).join('\n---\n'));
  const port = await freePort();
  const args = ['--config', config, '--address', '127.0.0.1', '--port', String(port), '--disable-version-check'];
  const { pid, stop } = await startProgram(program, args, { port, directory });
  return {
    name: 'Toolbox 1.12',
    url: `http://127.0.0.1:${port}/mcp`,
    pid,
    speech: { ...speech, tool: 'execute_sql' },
    guards: 'none (the database login alone)',
    stop,
  };
}
