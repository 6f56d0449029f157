import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { courseOf, type Caller } from '../../course.ts';
import { throughBrowser } from './agent.ts';
import { quoted, type Stage } from '../stage.ts';
import type { Kind, Saw } from './kind.ts';

/* Clients without a model: what they print or pass on is what there is to see. */

export const mcpRemote: Kind = {
  name: 'mcp-remote',
  title: 'mcp-remote',
  packages: ['mcp-remote@0.15.1'],
  bearer: async (stage) => overStdio(stage, ['--header', `Authorization: Bearer ${await stage.place.token()}`]),
  async oauth(stage) {
    const course = overStdio(stage, []);
    await throughBrowser(stage, course);
    return course;
  },
  limits: 'For clients that only start programs',
};

async function overStdio(stage: Stage, words: readonly string[]): Promise<Saw> {
  const client = new Client({ name: 'zoo', version: '0.0.0' });
  const env = Object.fromEntries(Object.entries(stage.env).map(([name, value]) => [name, value ?? '']));
  const args = [stage.place.url, '--allow-http', ...words];
  await client.connect(new StdioClientTransport({ command: 'mcp-remote', args, env, stderr: 'ignore' }), {
    timeout: 60_000,
  });
  try {
    return await sawOf({
      list: () => client.listTools(),
      call: (name, input) => client.callTool({ name, arguments: input }),
    });
  } finally {
    await client.close();
  }
}

export const mcporter: Kind = {
  name: 'mcporter',
  title: 'mcporter',
  packages: ['mcporter@0.12.3'],
  async bearer(stage) {
    const server = `--http-url ${stage.place.url} --allow-http --header "Authorization=Bearer ${await stage.place.token()}"`;
    return byMcporter(stage, `${server} --name sightline`);
  },
  async oauth(stage) {
    const server = `--http-url ${stage.place.url} --allow-http --name sightline`;
    await throughBrowser(stage, stage.shell(`mcporter auth ${server}`));
    return byMcporter(stage, server);
  },
  limits: 'Prints the structured form',
};

function byMcporter(stage: Stage, server: string): Promise<Saw> {
  const print = async (script: string): Promise<unknown> => JSON.parse((await stage.printed(script)).trim());
  return sawOf({
    list: () => print(`mcporter list ${server} --schema --json`),
    call: (name, input) =>
      print(`mcporter call ${server} --tool ${name} --args ${quoted(JSON.stringify(input))} --output json`),
  });
}

export const inspector: Kind = {
  name: 'inspector',
  title: 'MCP Inspector',
  packages: ['@modelcontextprotocol/inspector@2.12.0'],
  bearer: async (stage) => byInspector(stage, `--header "Authorization: Bearer ${await stage.place.token()}"`),
  async oauth(stage) {
    await throughBrowser(stage, stage.printed(`MCP_AUTO_OPEN_ENABLED=true ${inspect(stage)} --method tools/list`));
    return byInspector(stage, '--stored-auth-only');
  },
  limits: '`MCP_INSPECTOR_SECRET_STORE=file` keeps a sign-in where there is no keychain',
};

function inspect(stage: Stage): string {
  return `MCP_INSPECTOR_SECRET_STORE=file mcp-inspector --cli ${stage.place.url} --transport http --format json -q`;
}

function byInspector(stage: Stage, access: string): Promise<Saw> {
  const print = async (words: string): Promise<unknown> =>
    JSON.parse(await stage.printed(`${inspect(stage)} ${access} ${words}`));
  return sawOf({
    list: () => print('--method tools/list'),
    call: (name, input) =>
      print(`--method tools/call --tool-name ${name} --tool-args-json ${quoted(JSON.stringify(input))}`),
  });
}

async function sawOf(caller: Caller): Promise<Saw> {
  const { listed, results } = await courseOf(caller);
  return { texts: [JSON.stringify(listed)], results: results.map((result) => JSON.stringify(result)) };
}
