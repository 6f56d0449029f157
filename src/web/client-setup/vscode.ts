import type { Client, ClientFile } from './client.ts';
import { exchange, json, secretIntoVariable, wordsOf, quote } from './exchange.ts';

const input = 'sightline-token';

const file: ClientFile = {
  path: '.vscode/mcp.json',
  document: ({ url, key }) => ({
    ...(key !== undefined && {
      inputs: [{ type: 'promptString', id: input, description: 'Sightline access token', password: true }],
    }),
    servers: {
      sightline: {
        type: 'http',
        url,
        ...(key !== undefined && { headers: { Authorization: `Bearer \${input:${input}}` } }),
      },
    },
  }),
};

export const vscode: Client = {
  name: 'vscode',
  title: 'VS Code',
  file,
  snippets(connection) {
    const text = json(file.document(connection));
    if (connection.key !== undefined) {
      return [
        ...secretIntoVariable(connection),
        { title: 'Save as .vscode/mcp.json', language: 'json', text },
        {
          title: 'Print a token, good for one hour, and paste it where VS Code asks for it',
          language: 'sh',
          text: exchange(wordsOf(connection), String.raw`\1`),
        },
      ];
    }
    return [
      {
        title: 'Type this; VS Code asks you to sign in',
        language: 'sh',
        text: `code --add-mcp ${quote(JSON.stringify({ name: 'sightline', type: 'http', url: connection.url }))}`,
      },
      { title: 'Or save as .vscode/mcp.json, for everybody on the project', language: 'json', text },
    ];
  },
};
