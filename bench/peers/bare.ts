import { createServer } from 'node:http';
import pg from 'pg';
import { z } from 'zod';
import { freePort, startProgram, type Contender } from './contender.ts';
import type { Speech } from './lines.ts';

/*
 * What is possible in Node: node:http and pg doing the query in one round trip, values as text, and nothing else. Run with a
 * port and a URL it is the server; else it starts itself.
 */

const sent = z.object({ id: z.number(), params: z.object({ arguments: z.object({ sql: z.string() }) }) });

function serve(port: number, connectionString: string): void {
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
      pool.query({ text: params.arguments.sql, rowMode: 'array', types }).then(
        ({ fields, rows }) => {
          const result = { structuredContent: { columns: fields.map(({ name }) => name), rows } };
          const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result }));
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
        },
        () => response.writeHead(500).end(),
      );
    });
  }).listen(port, '127.0.0.1');
}

export async function startBare(directory: string, url: string, speech: Omit<Speech, 'tool'>): Promise<Contender> {
  const port = await freePort();
  const args = [import.meta.filename, String(port), url];
  const { pid, stop } = await startProgram(process.execPath, args, { port, directory });
  return {
    name: 'node:http + pg',
    url: `http://127.0.0.1:${port}/mcp`,
    pid,
    speech: { ...speech, tool: 'any' },
    guards: 'none: the limit',
    stop,
  };
}

const [, script, port, url] = process.argv;
if (script === import.meta.filename && url !== undefined) serve(Number(port), url);
