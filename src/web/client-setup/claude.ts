import type { Client, Connection, ClientFile } from './client.ts';
import { exchange, json, secretIntoVariable, wordsOf, quote } from './exchange.ts';

const file: ClientFile = {
  path: '.mcp.json',
  document: (connection) => ({
    mcpServers: {
      sightline: {
        type: 'http',
        url: connection.url,
        ...(connection.key !== undefined && { headersHelper: headers(connection) }),
      },
    },
  }),
};

/** Claude Code runs it whenever it connects and when it is refused, so that an hour's token lasts as long as the key. */
function headers(connection: Connection): string {
  // Braces around a variable would make Claude Code, not the shell, look for it.
  return exchange(wordsOf(connection), String.raw`{"Authorization":"Bearer \1"}`, ' ');
}

export const claude: Client = {
  name: 'claude',
  title: 'Claude Code',
  file,
  snippets(connection) {
    const text = json(file.document(connection));
    if (connection.key !== undefined) {
      return [
        ...secretIntoVariable(connection),
        { title: 'Save as .mcp.json; Claude Code then fetches a token whenever it needs one', language: 'json', text },
      ];
    }
    return [
      {
        title: 'Type this, then /mcp in Claude Code to sign in',
        language: 'sh',
        text: `claude mcp add --transport http sightline ${quote(connection.url)}`,
      },
      { title: 'Or save as .mcp.json, for everybody on the project', language: 'json', text },
    ];
  },
};
