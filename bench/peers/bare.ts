import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import pg from 'pg';
import { z } from 'zod';
import { freePort, startProgram, type Contender } from './contender.ts';
import type { Speech } from './lines.ts';

/*
 * What is possible in Node: node:http and pg doing the query in one round trip, values as text, and nothing else; and for the
 * list of tools the gateway's own answer, made once. Run with a port, a URL and a file that has the list it is the server; else
 * it starts itself.
 */

const sent = z.object({ id: z.number(), params: z.object({ arguments: z.object({ sql: z.string() }).optional() }) });
const json = { 'content-type': 'application/json' };

function serve(port: number, connectionString: string, list: Buffer): void {
  const pool = new pg.Pool({ connectionString, max: 10 });
  const types = { getTypeParser: () => (value: string) => value };
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (chunks.length === 0) {
        response.end();
        return;
      }
      const { id, params } = sent.parse(JSON.parse(Buffer.concat(chunks).toString()));
      if (params.arguments === undefined) {
        response.writeHead(200, { ...json, 'content-length': list.length }).end(list);
        return;
      }
      pool.query({ text: params.arguments.sql, rowMode: 'array', types }).then(
        ({ fields, rows }) => {
          const result = { structuredContent: { columns: fields.map(({ name }) => name), rows } };
          const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result }));
          response.writeHead(200, { ...json, 'content-length': body.length }).end(body);
        },
        () => response.writeHead(500).end(),
      );
    });
  }).listen(port, '127.0.0.1');
}

/** @param list the gateway's answer to tools/list. */
export async function startBare(directory: string, url: string, speech: Speech, list: string): Promise<Contender> {
  const port = await freePort();
  const file = join(directory, 'tools-list.json');
  await writeFile(file, list);
  const args = [import.meta.filename, String(port), url, file];
  const { pid, stop } = await startProgram(process.execPath, args, { port, directory });
  return {
    name: 'node:http + pg',
    url: `http://127.0.0.1:${port}/mcp`,
    pid,
    speech,
    guards: 'none: the limit',
    stop,
  };
}

const [, script, port, url, file] = process.argv;
if (script === import.meta.filename && url !== undefined && file !== undefined) {
  serve(Number(port), url, await readFile(file));
}
