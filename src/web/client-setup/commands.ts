import { shellWord } from '../../contract/core/quote.ts';
import {
  client,
  type Client,
  type ClientFile,
  command,
  type Connection,
  exchange,
  exchangeIntoVariable,
  inVariables,
  listTools,
  secretIntoVariable,
  settings,
  startWithToken,
  wordsOf,
} from './client.ts';

/* Clients that are set up by their own command, or in YAML, and so have no file that we write. */

const codexAdd = ({ url }: Connection): string => `codex mcp add sightline --url ${shellWord(url)}`;

export const codex = client(
  { name: 'codex', title: 'Codex' },
  (connection) => [command('Type this; Codex opens a browser to sign in', codexAdd(connection))],
  (connection) => [
    command('Type this once', `${codexAdd(connection)} --bearer-token-env-var SIGHTLINE_TOKEN`),
    startWithToken(connection, 'Codex', 'codex'),
  ],
);

const clineAdd = ({ url }: Connection): string => `cline mcp add sightline ${shellWord(url)} --transport http --yes`;

export const cline = client(
  { name: 'cline', title: 'Cline' },
  (connection) => [
    command('Type this, then cline mcp and Authorize OAuth to sign in', clineAdd(connection)),
    settings('Or, in an editor, save as cline_mcp_settings.json by Configure MCP Servers; Cline asks you to sign in', {
      mcpServers: { sightline: { type: 'streamableHttp', url: connection.url } },
    }),
  ],
  // Cline reads no variables, so that the token itself stands in its settings until the next one takes its place.
  (connection) => {
    const add = `${clineAdd(connection)} \\\n  --header "Authorization: Bearer $SIGHTLINE_TOKEN"\ncline`;
    return [startWithToken(connection, 'Cline', add)];
  },
);

const gooseFile = '~/.config/goose/config.yaml';

function gooseYaml({ url, key }: Connection): string {
  const token = `
    env_keys: [SIGHTLINE_TOKEN]
    headers:
      Authorization: Bearer $SIGHTLINE_TOKEN`;
  return `extensions:
  sightline:
    enabled: true
    type: streamable_http
    name: sightline
    description: Telemetry, incidents and chats of Sightline
    uri: ${JSON.stringify(url)}
    timeout: 300${key === undefined ? '' : token}`;
}

export const goose = client(
  { name: 'goose', title: 'goose' },
  (connection) => [
    {
      title: `Add to ${gooseFile}; goose opens a browser to sign in`,
      language: 'yaml',
      text: gooseYaml(connection),
    },
  ],
  (connection) => [
    { title: `Add to ${gooseFile}`, language: 'yaml', text: gooseYaml(connection) },
    startWithToken(connection, 'goose', 'goose'),
  ],
);

const inspect = 'npx @modelcontextprotocol/inspector';

export const inspector = client(
  { name: 'inspector', title: 'MCP Inspector' },
  ({ url }) => [
    command(
      'Type this, then Connect in the page that opens, to sign in',
      `${inspect} --transport http --server-url ${shellWord(url)}`,
    ),
  ],
  (connection) => [
    command(
      'List the tools',
      `${exchangeIntoVariable(wordsOf(connection))}
${inspect} --cli ${shellWord(connection.url)} --transport http \\
  --header "Authorization: Bearer $SIGHTLINE_TOKEN" --method tools/list`,
    ),
  ],
);

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

export const claude = client(
  { name: 'claude', title: 'Claude Code', file },
  (connection) => [
    command(
      'Type this, then /mcp in Claude Code to sign in',
      `claude mcp add --transport http sightline ${shellWord(connection.url)}`,
    ),
    settings('Or save as .mcp.json, for everybody on the project', file.document(connection)),
  ],
  (connection) => [
    settings('Save as .mcp.json; Claude Code then fetches a token whenever it needs one', file.document(connection)),
  ],
);

export const ci: Client = {
  name: 'ci',
  title: 'CI and scripts',
  snippets(connection) {
    const secret = connection.key?.clientSecret;
    return [
      command(
        'GitHub Actions: keep the secret in the repository’s secrets',
        secret === undefined
          ? 'gh secret set SIGHTLINE_CLIENT_SECRET'
          : `printf %s ${shellWord(secret)} | gh secret set SIGHTLINE_CLIENT_SECRET`,
      ),
      {
        title: 'GitHub Actions: save as .github/workflows/sightline.yml',
        language: 'yaml',
        text: workflow(connection),
      },
      ...secretIntoVariable(connection, 'Any shell: put the secret where your programs find it'),
      command(
        'Any shell: exchange the key for a token, good for one hour, and call',
        `${exchangeIntoVariable(wordsOf(connection))}\n${listTools(wordsOf(connection))}`,
      ),
    ];
  },
};

/** The connection's values stand in variables, not in the script, which Actions writes without any quoting. */
function workflow({ url, tokenUrl, key }: Connection): string {
  const clientId = key === undefined ? '${{ vars.SIGHTLINE_CLIENT_ID }}' : JSON.stringify(key.clientId);
  return `name: Sightline
on: workflow_dispatch
jobs:
  ask:
    runs-on: ubuntu-latest
    env:
      SIGHTLINE_URL: ${JSON.stringify(url)}
      SIGHTLINE_TOKEN_URL: ${JSON.stringify(tokenUrl)}
      SIGHTLINE_CLIENT_ID: ${clientId}
    steps:
      - name: Exchange the key for a token and list the tools
        env:
          SIGHTLINE_CLIENT_SECRET: \${{ secrets.SIGHTLINE_CLIENT_SECRET }}
        run: |
${block(exchangeIntoVariable(inVariables))}
          echo "::add-mask::$SIGHTLINE_TOKEN"
${block(listTools(inVariables))}`;
}

/** Lines of a YAML block, ten deep. */
function block(text: string): string {
  return text.replaceAll(/^/gm, ' '.repeat(10));
}
