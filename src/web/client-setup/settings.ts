import { shellWord } from '../../contract/core/quote.ts';
import {
  client,
  type Client,
  type ClientFile,
  command,
  type Connection,
  exchange,
  settings,
  startWithToken,
  wordsOf,
} from './client.ts';

/** A client that reads its servers from JSON, and a token from the environment. */
interface Settings extends Pick<Client, 'name' | 'title'>, Required<Pick<ClientFile, 'path' | 'signIn'>> {
  /** How these settings name the variable that holds the token. */
  readonly variable: string;
  readonly document: (url: string, headers?: Headers) => Readonly<Record<string, unknown>>;
  /** Starts it in a shell. */
  readonly start: string;
}

interface Headers {
  readonly Authorization: string;
}

export const cursor = bySettings({
  name: 'cursor',
  title: 'Cursor',
  path: '.cursor/mcp.json',
  variable: '${env:SIGHTLINE_TOKEN}',
  document: (url, headers) => ({ mcpServers: { sightline: { url, ...(headers && { headers }) } } }),
  signIn: 'Cursor asks you to sign in',
  start: 'cursor .',
});

export const gemini = bySettings({
  name: 'gemini',
  title: 'Gemini CLI',
  path: '.gemini/settings.json',
  variable: '$SIGHTLINE_TOKEN',
  document: (url, headers) => ({ mcpServers: { sightline: { httpUrl: url, ...(headers && { headers }) } } }),
  signIn: 'trust the folder when Gemini CLI asks, then type /mcp auth sightline there to sign in',
  start: 'gemini',
});

export const copilot = bySettings({
  name: 'copilot',
  title: 'GitHub Copilot CLI',
  path: '~/.copilot/mcp-config.json',
  variable: '${SIGHTLINE_TOKEN}',
  document: (url, headers) => ({
    mcpServers: { sightline: { type: 'http', url, tools: ['*'], ...(headers && { headers }) } },
  }),
  signIn: 'Copilot opens a browser to sign in when it starts',
  start: 'copilot',
});

export const opencode = bySettings({
  name: 'opencode',
  title: 'opencode',
  path: 'opencode.json',
  variable: '{env:SIGHTLINE_TOKEN}',
  document: (url, headers) => ({
    mcp: { sightline: { type: 'remote', url, ...(headers && { oauth: false, headers }) } },
  }),
  signIn: 'then type opencode mcp auth sightline to sign in',
  start: 'opencode',
});

export const zed = bySettings({
  name: 'zed',
  title: 'Zed',
  path: '.zed/settings.json',
  variable: '${SIGHTLINE_TOKEN}',
  document: (url, headers) => ({
    context_servers: { sightline: headers === undefined ? { url } : bridge(url, headers) },
  }),
  signIn: 'Zed asks you to trust the folder, then to sign in',
  start: 'zed .',
});

export const windsurf = bySettings({
  name: 'windsurf',
  title: 'Windsurf',
  path: '~/.codeium/windsurf/mcp_config.json',
  variable: '${env:SIGHTLINE_TOKEN}',
  document: (url, headers) => ({ mcpServers: { sightline: { serverUrl: url, ...(headers && { headers }) } } }),
  signIn: 'Windsurf asks you to sign in',
  start: 'windsurf .',
});

/** Zed sends a header as it is written, variables and all; mcp-remote takes them from the environment. */
function bridge(url: string, { Authorization }: Headers): Readonly<Record<string, unknown>> {
  const plain = url.startsWith('http:') ? ['--allow-http'] : [];
  return {
    command: 'npx',
    args: ['-y', 'mcp-remote@0.15.1', url, '--header', `Authorization:${Authorization}`, ...plain],
  };
}

function bySettings({ name, title, path, variable, document, signIn, start }: Settings): Client {
  const file = {
    path,
    signIn,
    document: ({ url, key }: Connection) => document(url, key && { Authorization: `Bearer ${variable}` }),
  };
  return client(
    { name, title, file },
    (connection) => [settings(`Save as ${path}; ${signIn}`, file.document(connection))],
    (connection) => [settings(`Save as ${path}`, file.document(connection)), startWithToken(connection, title, start)],
  );
}

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

export const vscode = client(
  { name: 'vscode', title: 'VS Code', file },
  (connection) => [
    command(
      'Type this; VS Code asks you to sign in',
      `code --add-mcp ${shellWord(JSON.stringify({ name: 'sightline', type: 'http', url: connection.url }))}`,
    ),
    settings('Or save as .vscode/mcp.json, for everybody on the project', file.document(connection)),
  ],
  (connection) => [
    settings('Save as .vscode/mcp.json', file.document(connection)),
    command(
      'Print a token, good for one hour, and paste it where VS Code asks for it',
      exchange(wordsOf(connection), String.raw`\1`),
    ),
  ],
);
