import type { Client } from './client.ts';
import { exchangeIntoVariable, secretIntoVariable, wordsOf, quote } from './exchange.ts';

export const inspector: Client = {
  name: 'inspector',
  title: 'MCP Inspector',
  snippets(connection) {
    const start = 'npx @modelcontextprotocol/inspector';
    if (connection.key === undefined) {
      return [
        {
          title: 'Type this, then Connect in the page that opens, to sign in',
          language: 'sh',
          text: `${start} --transport http --server-url ${quote(connection.url)}`,
        },
      ];
    }
    return [
      ...secretIntoVariable(connection),
      {
        title: 'List the tools',
        language: 'sh',
        text: `${exchangeIntoVariable(wordsOf(connection))}
${start} --cli ${quote(connection.url)} --transport http \\
  --header "Authorization: Bearer $SIGHTLINE_TOKEN" --method tools/list`,
      },
    ];
  },
};
