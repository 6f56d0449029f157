import type { Client, ProjectFile } from './client.ts';
import { exchangeIntoVariable, json, secretIntoVariable, wordsOf } from './exchange.ts';

const file: ProjectFile = {
  path: '.cursor/mcp.json',
  document: ({ url, key }) => ({
    mcpServers: {
      sightline: {
        url,
        ...(key !== undefined && { headers: { Authorization: 'Bearer ${env:SIGHTLINE_TOKEN}' } }),
      },
    },
  }),
};

export const cursor: Client = {
  name: 'cursor',
  title: 'Cursor',
  file,
  snippets(connection) {
    const text = json(file.document(connection));
    if (connection.key === undefined) {
      return [{ title: 'Save as .cursor/mcp.json; Cursor asks you to sign in', language: 'json', text }];
    }
    return [
      ...secretIntoVariable(connection),
      { title: 'Save as .cursor/mcp.json', language: 'json', text },
      {
        title: 'Start Cursor with a token; it is good for one hour',
        language: 'sh',
        text: `${exchangeIntoVariable(wordsOf(connection))}\ncursor .`,
      },
    ];
  },
};
