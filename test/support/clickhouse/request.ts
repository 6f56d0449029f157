import type { IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';

/** A request to ClickHouse's HTTP interface. */
export interface FrontRequest {
  readonly sql: string;
  /** Rows to insert, where the statement came in the URL. */
  readonly data: Buffer | undefined;
  readonly queryId: string;
  readonly database: string | undefined;
  readonly format: string | undefined;
  readonly settings: ReadonlyMap<string, string>;
  readonly parameters: ReadonlyMap<string, string>;
  readonly gzip: boolean;
}

/** URL parameters of the interface itself, which no setting stands behind here. */
const ofTheInterface = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'session_id',
  'session_timeout',
  'role',
  'user',
  'password',
  'wait_end_of_query',
  'buffer_size',
]);

export async function readRequest(request: IncomingMessage): Promise<FrontRequest> {
  const url = new URL(request.url ?? '/', 'http://front');
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(Buffer.from(part));
  let body = Buffer.concat(parts);
  if (request.headers['content-encoding'] === 'gzip') body = gunzipSync(body);
  const inUrl = url.searchParams.get('query') ?? undefined;
  const isInsert = inUrl !== undefined && /^\s*insert\b/i.test(inUrl);
  const settings = new Map<string, string>();
  const parameters = new Map<string, string>();
  for (const [name, value] of url.searchParams) {
    if (name.startsWith('param_')) parameters.set(name.slice('param_'.length), unescapeTsv(value));
    else if (!ofTheInterface.has(name)) settings.set(name, value);
  }
  const compressed = ['1', 'true'].includes(settings.get('enable_http_compression') ?? '0');
  return {
    sql: `${inUrl ?? ''}${isInsert ? '' : body.toString('utf8')}`,
    data: isInsert ? body : undefined,
    queryId: url.searchParams.get('query_id') ?? crypto.randomUUID(),
    database: url.searchParams.get('database') ?? undefined,
    format: url.searchParams.get('default_format') ?? undefined,
    settings,
    parameters,
    gzip: compressed && String(request.headers['accept-encoding'] ?? '').includes('gzip'),
  };
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', b: '\b', f: '\f', 0: '\0' };

/** Values of parameters come tab-separated. */
function unescapeTsv(value: string): string {
  return value.replaceAll(/\\(.)/gs, (_whole, letter: string) => escapes[letter] ?? letter);
}
