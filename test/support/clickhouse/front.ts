import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createGzip } from 'node:zlib';
import { Session } from 'chdb';
import { nativeEngine } from './engine.ts';
import { failureOf, statusOf, trailer } from './failure.ts';
import { readRequest, type FrontRequest } from './request.ts';

export interface FrontOptions {
  readonly directory: string;
  /** A server config, whose users.xml restricts what the session may do; without it the session may do everything. */
  readonly configFile?: string | undefined;
  /** As a profile with readonly = 1: all but these settings are refused. */
  readonly changeable?: readonly string[] | undefined;
  /** How an error after the first rows is told: since 25.11 `tagged`, `plain` before. */
  readonly exceptions: 'tagged' | 'plain';
}

const native = nativeEngine();
/** As the server: the headers wait for so much of the result, or its end. */
const headersAfterBytes = 1 << 20;

/** ClickHouse's HTTP interface over the engine in this process: what @clickhouse/client speaks, one session a request. */
export class Front {
  readonly server: Server;
  readonly #options: FrontOptions;
  readonly #control: Session;
  readonly #version: string;
  /** Marks of running statements by query id. */
  readonly #running = new Map<string, string>();
  #count = 0;

  constructor(options: FrontOptions) {
    this.#options = options;
    this.#control = this.#session();
    this.#version = this.#control.query('SELECT version()', 'TSV').trim();
    this.server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(new Error(String(error))));
    });
  }

  #session(): Session {
    const { directory, configFile } = this.#options;
    const config = configFile === undefined ? [] : [`--config-file=${configFile}`];
    return new Session(directory, { connectionArgs: ['--async_load_databases=0', ...config] });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/ping' || (request.method === 'GET' && request.url === '/')) {
      response.end('Ok.\n');
      return;
    }
    const asked = await readRequest(request);
    const session = this.#session();
    const out = new Reply(response, asked, this.#options.exceptions);
    this.#count += 1;
    const mark = `/*q${this.#count}*/`;
    this.#running.set(asked.queryId, mark);
    response.on('close', () => {
      if (response.writableFinished || asked.settings.get('cancel_http_readonly_queries_on_client_close') !== '1')
        return;
      void this.#kill(asked.queryId);
    });
    try {
      await this.#prepare(session, asked);
      await this.#run(session, asked, mark, out);
      await out.end();
    } catch (error) {
      await out.fail(failureOf(error, this.#version));
    } finally {
      this.#running.delete(asked.queryId);
      session.close();
    }
  }

  /** All at once with `readonly`, since nothing can be set after it: the engine knows no setting that may still be changed then. */
  async #prepare(session: Session, { settings, database }: FrontRequest): Promise<void> {
    const { changeable } = this.#options;
    for (const [name] of settings) {
      if (!/^\w+$/.test(name))
        throw new Error(`Code: 115. DB::Exception: Unknown setting '${name}'. (UNKNOWN_SETTING)`);
      if (changeable?.includes(name) === false) {
        throw new Error(`Code: 164. DB::Exception: Cannot modify '${name}' setting in readonly mode. (READONLY)`);
      }
    }
    if (database !== undefined) await session.queryAsync(`USE \`${database.replaceAll('`', '\\`')}\``);
    const all = [...settings, ...(changeable === undefined ? [] : [['readonly', '1'] as const])];
    const set = all.map(([name, value]) => `${name} = ${quoted(value)}`);
    if (set.length > 0) await session.queryAsync(`SET ${set.join(', ')}`);
  }

  async #run(session: Session, asked: FrontRequest, mark: string, out: Reply): Promise<void> {
    const { data, parameters } = asked;
    if (data !== undefined) {
      const { rowsWritten, bytesWritten } = await native.InsertRawAsyncConnection(
        session.connection,
        `${asked.sql}\n`,
        data,
        false,
      );
      out.summary = { written_rows: String(rowsWritten), written_bytes: String(bytesWritten) };
      return;
    }
    const killed = /^\s*KILL QUERY WHERE query_id = '((?:[^'\\]|\\.)*)'/i.exec(asked.sql)?.[1];
    if (killed !== undefined) return await this.#kill(killed.replaceAll(/\\(.)/g, '$1'));
    const { statementCount, queryClass } = await native.DurableClassifyAsync(session.connection, asked.sql);
    if (statementCount > 1) {
      throw new Error('Code: 62. DB::Exception: Syntax error (Multi-statements are not allowed). (SYNTAX_ERROR)');
    }
    const { sql, format } = withoutFormat(asked);
    const bound = Object.fromEntries(parameters);
    if (queryClass !== 0) {
      await session.queryBindAsync(`${mark} ${sql}`, bound, { format });
      return;
    }
    if (!/EachRow|TabSeparated|TSV/.test(format) || !/^\s*(?:\/\*.*?\*\/\s*)?(?:SELECT|WITH|\()/i.test(sql)) {
      const result = await session.queryBindAsync(`${mark} ${sql}`, bound, { format });
      out.summary = { read_rows: String(result.rowsRead), read_bytes: String(result.bytesRead) };
      await out.write(Buffer.from(result.bytes()));
      return;
    }
    const options = { format };
    const stream =
      parameters.size > 0
        ? session.queryStreamBind(`${mark} ${sql}`, bound, options)
        : session.queryStream(`${mark} ${sql}`, options);
    const headerLines = format.endsWith('NamesAndTypes') ? 2 : format.endsWith('Names') ? 1 : 0;
    let first = true;
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk.raw());
      // Each piece of a result brings the header again.
      await out.write(first ? bytes : withoutLines(bytes, headerLines));
      first = false;
    }
  }

  async #kill(queryId: string): Promise<void> {
    const mark = this.#running.get(queryId);
    if (mark === undefined) return;
    await this.#control.queryAsync(`KILL QUERY WHERE startsWith(query, '${mark} ') ASYNC`);
  }
}

function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function withoutFormat({ sql, format }: FrontRequest): { readonly sql: string; readonly format: string } {
  const named = /\bFORMAT\s+(\w+)\s*;?\s*$/i.exec(sql);
  return named?.[1] === undefined
    ? { sql, format: format ?? 'TabSeparated' }
    : { sql: sql.slice(0, named.index), format: named[1] };
}

function withoutLines(bytes: Buffer, count: number): Buffer {
  let at = 0;
  for (let line = 0; line < count; line += 1) at = bytes.indexOf(10, at) + 1;
  return bytes.subarray(at);
}

/** The response: headers late, so that an early error is an error and the summary tells what was read. */
class Reply {
  summary: Readonly<Record<string, string>> = {};
  readonly #response: ServerResponse;
  readonly #asked: FrontRequest;
  readonly #tag: string | undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #body: NodeJS.WritableStream | undefined;
  readonly #left: Promise<unknown>;

  constructor(response: ServerResponse, asked: FrontRequest, exceptions: FrontOptions['exceptions']) {
    this.#response = response;
    this.#left = once(response, 'close');
    this.#asked = asked;
    this.#tag = exceptions === 'tagged' ? randomBytes(8).toString('hex') : undefined;
  }

  async write(bytes: Buffer): Promise<void> {
    if (this.#response.destroyed) throw new Error('the client left');
    if (this.#body === undefined && this.#waitingBytes + bytes.length < headersAfterBytes) {
      this.#waiting.push(bytes);
      this.#waitingBytes += bytes.length;
      return;
    }
    await this.#send(bytes);
  }

  async end(): Promise<void> {
    await this.#send(Buffer.alloc(0));
    this.#body?.end();
  }

  async fail(failure: ReturnType<typeof failureOf>): Promise<void> {
    if (this.#response.destroyed) return;
    if (this.#body !== undefined) {
      await this.#send(trailer(failure, this.#tag));
      this.#body.end();
      return;
    }
    this.#response.statusCode = statusOf(failure.code);
    this.#response.setHeader('X-ClickHouse-Exception-Code', String(failure.code));
    this.#response.end(failure.text);
  }

  async #send(bytes: Buffer): Promise<void> {
    if (this.#body === undefined) {
      const response = this.#response;
      response.setHeader('X-ClickHouse-Query-Id', encodeURIComponent(this.#asked.queryId));
      response.setHeader('X-ClickHouse-Summary', JSON.stringify(this.summary));
      if (this.#tag !== undefined) response.setHeader('X-ClickHouse-Exception-Tag', this.#tag);
      if (this.#asked.gzip) {
        response.setHeader('Content-Encoding', 'gzip');
        const gzip = createGzip();
        gzip.pipe(response);
        this.#body = gzip;
      } else {
        this.#body = response;
      }
      const waiting = Buffer.concat(this.#waiting);
      this.#waiting = [];
      bytes = Buffer.concat([waiting, bytes]);
    }
    if (bytes.length === 0 || this.#body.write(bytes)) return;
    await Promise.race([once(this.#body, 'drain'), this.#left]);
  }
}
