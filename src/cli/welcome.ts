import type { Credentials } from './client.ts';

/**
 * What to paste into a POSIX shell after the first start: each command works as it stands, in this order and in one
 * shell, with curl and sed alone.
 */
export function pasteableCommands({ url, clientId, clientSecret }: Credentials): readonly [string, string, string] {
  return [
    `TOKEN=$(curl -s ${url}/oauth2/token \\
  --data-urlencode grant_type=client_credentials \\
  --data-urlencode client_id=${clientId} \\
  --data-urlencode client_secret=${clientSecret} \\
  | sed -n 's/.*"access_token" *: *"\\([^"]*\\)".*/\\1/p'); echo "$TOKEN"`,
    call(url, { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    call(url, {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'query_otel', arguments: { sql: exampleSql } },
    }),
  ];
}

/** Without a quote, so that it can stand inside the shell's. */
const exampleSql =
  'SELECT service_name, count(*) AS spans, round(max(duration_nano) / 1e6) AS slowest_ms ' +
  'FROM otel.spans GROUP BY service_name ORDER BY spans DESC';

function call(url: string, message: object): string {
  return `curl -s ${url}/mcp -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\
  -d '${JSON.stringify(message)}'`;
}
