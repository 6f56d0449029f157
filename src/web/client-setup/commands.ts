import { shellWord } from '../../contract/core/quote.ts';
import {
  type Client,
  type ClientFile,
  type Connection,
  exchange,
  exchangeIntoVariable,
  inVariables,
  json,
  listTools,
  secretIntoVariable,
  startWithToken,
  wordsOf,
} from './client.ts';

/* Clients that are set up by their own command, or in YAML, and so have no file that we write. */

export const codex: Client = {
  name: 'codex',
  title: 'Codex',
  snippets(connection) {
    const add = `codex mcp add sightline --url ${shellWord(connection.url)}`;
    if (connection.key === undefined) {
      return [{ title: 'Type this; Codex opens a browser to sign in', language: 'sh', text: add }];
    }
    return [
      ...secretIntoVariable(connection),
      { title: 'Type this once', language: 'sh', text: `${add} --bearer-token-env-var SIGHTLINE_TOKEN` },
      startWithToken(connection, 'Codex', 'codex'),
    ];
  },
};

export const cline: Client = {
  name: 'cline',
  title: 'Cline',
  snippets(connection) {
    const { url } = connection;
    const add = `cline mcp add sightline ${shellWord(url)} --transport http --yes`;
    if (connection.key === undefined) {
      return [
        { title: 'Type this, then cline mcp and Authorize OAuth to sign in', language: 'sh', text: add },
        {
          title:
            'Or, in an editor, save as cline_mcp_settings.json by Configure MCP Servers; Cline asks you to sign in',
          language: 'json',
          text: json({ mcpServers: { sightline: { type: 'streamableHttp', url } } }),
        },
      ];
    }
    // Cline reads no variables, so that the token itself stands in its settings until the next one takes its place.
    const withToken = `${add} \\\n  --header "Authorization: Bearer $SIGHTLINE_TOKEN"\ncline`;
    return [...secretIntoVariable(connection), startWithToken(connection, 'Cline', withToken)];
  },
};

export const goose: Client = {
  name: 'goose',
  title: 'goose',
  snippets(connection) {
    const { url, key } = connection;
    const token = `
    env_keys: [SIGHTLINE_TOKEN]
    headers:
      Authorization: Bearer $SIGHTLINE_TOKEN`;
    const text = `extensions:
  sightline:
    enabled: true
    type: streamable_http
    name: sightline
    description: Telemetry, incidents and chats of Sightline
    uri: ${JSON.stringify(url)}
    timeout: 300${key === undefined ? '' : token}`;
    const file = '~/.config/goose/config.yaml';
    if (key === undefined) {
      return [{ title: `Add to ${file}; goose opens a browser to sign in`, language: 'yaml', text }];
    }
    return [
      ...secretIntoVariable(connection),
      { title: `Add to ${file}`, language: 'yaml', text },
      startWithToken(connection, 'goose', 'goose'),
    ];
  },
};

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
          text: `${start} --transport http --server-url ${shellWord(connection.url)}`,
        },
      ];
    }
    return [
      ...secretIntoVariable(connection),
      {
        title: 'List the tools',
        language: 'sh',
        text: `${exchangeIntoVariable(wordsOf(connection))}
${start} --cli ${shellWord(connection.url)} --transport http \\
  --header "Authorization: Bearer $SIGHTLINE_TOKEN" --method tools/list`,
      },
    ];
  },
};

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
        text: `claude mcp add --transport http sightline ${shellWord(connection.url)}`,
      },
      { title: 'Or save as .mcp.json, for everybody on the project', language: 'json', text },
    ];
  },
};

export const ci: Client = {
  name: 'ci',
  title: 'CI and scripts',
  snippets(connection) {
    const secret = connection.key?.clientSecret;
    return [
      {
        title: 'GitHub Actions: keep the secret in the repository’s secrets',
        language: 'sh',
        text:
          secret === undefined
            ? 'gh secret set SIGHTLINE_CLIENT_SECRET'
            : `printf %s ${shellWord(secret)} | gh secret set SIGHTLINE_CLIENT_SECRET`,
      },
      {
        title: 'GitHub Actions: save as .github/workflows/sightline.yml',
        language: 'yaml',
        text: workflow(connection),
      },
      ...secretIntoVariable(connection, 'Any shell: put the secret where your programs find it'),
      {
        title: 'Any shell: exchange the key for a token, good for one hour, and call',
        language: 'sh',
        text: `${exchangeIntoVariable(wordsOf(connection))}\n${listTools(wordsOf(connection))}`,
      },
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
