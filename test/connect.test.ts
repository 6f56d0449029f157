import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { defaultLoadersSync } from 'cosmiconfig';
import { z } from 'zod';
import { clients, type Snippet } from '../src/web/client-setup/index.ts';
import { textsIn } from './clients/zoo/models/format.ts';
import { Sandbox, type Ended } from './support/cli.ts';
import { exchange, root } from './support/gateway.ts';

const run = promisify(execFile);
const installed = z
  .object({ version: z.string() })
  .parse(JSON.parse(await readFile(join(root, 'node_modules/mcp-remote/package.json'), 'utf8')));
const pair = z.object({ client_id: z.string(), client_secret: z.string() });
const listed = z.object({ result: z.object({ tools: z.array(z.unknown()).length(8) }) });
const result = z.strictObject({
  client: z.string(),
  url: z.string(),
  authorization_server: z.string(),
  token_url: z.string(),
  tools: z.array(z.string()).nullable(),
  file: z.strictObject({ path: z.string(), changed: z.boolean() }).nullable(),
  snippets: z.array(z.object({ title: z.string(), language: z.enum(['sh', 'json', 'yaml']), text: z.string() })),
});
const workflow = z.object({
  jobs: z.object({
    ask: z.object({ env: z.record(z.string(), z.string()), steps: z.array(z.object({ run: z.string() })).length(1) }),
  }),
});
/** Installed here, in the version that the entry names. */
const mcpRemote = join(root, 'node_modules/.bin/mcp-remote');
const bridged = z.object({
  command: z.literal('npx'),
  args: z.tuple([z.literal('-y'), z.literal(`mcp-remote@${installed.version}`)]).rest(z.string()),
});
const withHelper = z.object({ mcpServers: z.object({ sightline: z.object({ headersHelper: z.string() }) }) });

function defined(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

describe('sightline connect', () => {
  let box: Sandbox;
  let url = '';
  let key: z.output<typeof pair>;

  beforeAll(async () => {
    box = await Sandbox.create();
    ({ url } = await box.serve('--no-demo'));
    await box.run('org', 'create', 'Acme');
    key = pair.parse(
      JSON.parse((await box.run('key', 'create', '--org', 'Acme', '--name', 'ci', '--scopes', 'all', '--json')).stdout),
    );
  });

  afterAll(() => box.remove());

  function connect(args: readonly string[], secret = key.client_secret): Promise<Ended> {
    const env = { SIGHTLINE_CLIENT_SECRET: secret, SIGHTLINE_DATA: box.data };
    return box.start(['connect', ...args], env).ended;
  }

  async function snippetsOf(client: string): Promise<readonly Snippet[]> {
    const { stdout, stderr } = await connect([client, '--key', key.client_id, '--json']);
    expect(stderr).toBe('');
    return result.parse(JSON.parse(stdout)).snippets;
  }

  /** As a person would: the shell has the secret and nothing else of ours. */
  async function shell(script: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const { stdout } = await run('/bin/sh', ['-e', '-c', script], {
      env: { PATH: process.env['PATH'], SIGHTLINE_CLIENT_SECRET: key.client_secret, ...env },
    });
    return stdout;
  }

  it.each(clients.map(({ name }) => name))('%s: proves the key with a call and shows no secret', async (client) => {
    const plain = await connect([client, '--key', key.client_id]);
    expect(plain).toMatchObject({ code: 0, stderr: '' });
    expect(plain.stdout).toContain(`The official MCP client lists 8 tools at ${url}/mcp (2026-07-28).`);
    expect(plain.stdout).not.toContain(key.client_secret);
    const json = result.parse(JSON.parse((await connect([client, '--key', key.client_id, '--json'])).stdout));
    expect(json).toMatchObject({ client, url: `${url}/mcp`, token_url: `${url}/oauth2/token`, file: null });
    expect(json.tools).toContain('query_otel');
    for (const { text } of json.snippets) expect(plain.stdout).toContain(text);
  });

  it('shows a person who needs no key where to sign in, and writes no more than the URL', async () => {
    const plain = await connect(['claude']);
    expect(plain).toMatchObject({ code: 0, stderr: '' });
    expect(plain.stdout).toContain(`${url}/mcp answers, and tokens are had at ${url}.`);
    expect(plain.stdout).toContain(`\nclaude mcp add --transport http sightline ${url}/mcp\n`);
    expect((await connect(['cursor', '--write'])).stdout).toContain(
      '.cursor/mcp.json has it now; Cursor asks you to sign in.',
    );
    expect(JSON.parse(await readFile(join(box.directory, '.cursor/mcp.json'), 'utf8'))).toEqual({
      mcpServers: { sightline: { url: `${url}/mcp` } },
    });
  });

  it('what it prints for a shell works there', async () => {
    const script = (await snippetsOf('ci')).findLast(({ language }) => language === 'sh')?.text ?? '';
    listed.parse(JSON.parse(await shell(script)));
  });

  it('what it prints for GitHub Actions works in a step', async () => {
    const yaml = (await snippetsOf('ci')).find(({ language }) => language === 'yaml')?.text ?? '';
    const { env, steps } = workflow.parse(defaultLoadersSync['.yaml']('workflow.yml', yaml)).jobs.ask;
    const [masked = '', answer = ''] = (await shell(steps[0]?.run ?? '', env)).split('\n', 2);
    expect(masked).toMatch(/^::add-mask::\S+$/);
    listed.parse(JSON.parse(answer));
  });

  it('Claude Code has its headers from the command it is given', async () => {
    const file = (await snippetsOf('claude')).find(({ language }) => language === 'json')?.text ?? '';
    const helper = withHelper.parse(JSON.parse(file)).mcpServers.sightline.headersHelper;
    const headers = z.strictObject({ Authorization: z.string() }).parse(JSON.parse(await shell(helper)));
    const answer = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });
    listed.parse(await answer.json());
    // Where the exchange fails, nothing is printed that could pass for headers.
    expect(await shell(helper, { SIGHTLINE_CLIENT_SECRET: 'wrong' })).toBe('');
  });

  /** The URL and the header of an entry, its variable filled in as the client does. */
  function calledBy(entry: unknown, token: string): { readonly url: string; readonly authorization: string } {
    const [texts, header] = [textsIn(entry), /^(?:Authorization:)?Bearer .+/];
    const named = texts.find((text) => header.test(text))?.replace('Authorization:', '') ?? '';
    return {
      url: texts.find((text) => text.endsWith('/mcp')) ?? '',
      authorization: named.replace(/\$\{.*\}|\{env:.*\}|\$SIGHTLINE_TOKEN/, token),
    };
  }

  it.each(['cursor', 'vscode', 'gemini', 'copilot', 'opencode', 'goose', 'windsurf'])(
    '%s: the entry it is given calls the endpoint',
    async (client) => {
      const token = await exchange(url, key);
      const { text = '' } = (await snippetsOf(client)).find(({ language }) => language !== 'sh') ?? {};
      const { url: called, authorization } = calledBy(defaultLoadersSync['.yaml']('entry.yml', text), token);
      const answer = await fetch(called, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
      });
      listed.parse(await answer.json());
    },
  );

  it('zed: the program it is given reads the token from the environment, and lists the tools', async () => {
    const { text = '' } = (await snippetsOf('zed')).find(({ language }) => language === 'json') ?? {};
    const entry = z.object({ context_servers: z.object({ sightline: bridged }) }).parse(JSON.parse(text));
    const [, , ...words] = entry.context_servers.sightline.args;
    const client = new Client({ name: 'sightline-test', version: '0.0.0' });
    const env = { ...process.env, HOME: box.directory, SIGHTLINE_TOKEN: await exchange(url, key) };
    await client.connect(new StdioClientTransport({ command: mcpRemote, args: words, env: defined(env) }));
    expect((await client.listTools()).tools).toHaveLength(8);
    await client.close();
  });

  it('--write adds to the file of the project, keeps what is there and changes nothing the second time', async () => {
    const path = '.vscode/mcp.json';
    const file = join(box.directory, path);
    await mkdir(dirname(file), { recursive: true });
    const mine = {
      inputs: [{ id: 'mine', type: 'promptString' }],
      servers: { mine: { url: 'https://x.example' } },
      other: 1,
    };
    await writeFile(file, `${JSON.stringify(mine, undefined, '\t')}\n`.replaceAll('\n', '\r\n'));

    const first = await connect(['vscode', '--key', key.client_id, '--write', '--json']);
    expect(result.parse(JSON.parse(first.stdout)).file).toEqual({ path, changed: true });
    const text = await readFile(file, 'utf8');
    expect(JSON.parse(text)).toMatchObject({ ...mine, inputs: [{ id: 'mine' }, { id: 'sightline-token' }] });
    expect(JSON.parse(text)).toMatchObject({ servers: { sightline: { url: `${url}/mcp` } } });
    expect(text).toMatch(/^\{\r\n\t"inputs"/);
    expect(text).not.toMatch(/[^\r]\n/);
    expect(text).not.toContain(key.client_secret);

    const again = await connect(['vscode', '--key', key.client_id, '--write']);
    expect(again.stdout).toContain('.vscode/mcp.json had it already.');
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  it('--write keeps what a person’s own file was beside it', async () => {
    const path = join(box.directory, '.copilot/mcp-config.json');
    await mkdir(dirname(path), { recursive: true });
    const mine = '{"mcpServers":{"mine":{"type":"http","url":"https://x.example"}}}';
    await writeFile(path, mine);
    const { stdout } = await connect(['copilot', '--write']);
    expect(stdout).toContain('~/.copilot/mcp-config.json has it now; Copilot opens a browser to sign in');
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
      mcpServers: {
        mine: { type: 'http', url: 'https://x.example' },
        sightline: { type: 'http', url: `${url}/mcp`, tools: ['*'] },
      },
    });
    expect(await readFile(`${path}.bak`, 'utf8')).toBe(mine);
  });

  it('--write leaves a file alone that it would damage', async () => {
    const file = join(box.directory, '.mcp.json');
    for (const text of ['{ // mine\n "mcpServers": {} }', '[]', '{"mcpServers": ["mine"]}']) {
      await writeFile(file, text);
      const refused = await connect(['claude', '--key', key.client_id, '--write']);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain('left as it is');
      expect(await readFile(file, 'utf8')).toBe(text);
    }
  });

  it.each([
    [
      ['emacs'],
      2,
      'Allowed choices are claude, cursor, vscode, codex, gemini, copilot, opencode, cline, goose, zed, windsurf, inspector, ci',
    ],
    [['ci', '--write', '--key', 'KEY'], 2, 'no file that is written for it'],
    [['ci', '--key', 'ak_1'], 2, 'sightline key list'],
    [['ci', '--url', 'ftp://x.example'], 2, 'https://sightline.example.com/mcp'],
    [
      ['ci', '--url', 'http://127.0.0.1:2'],
      1,
      'Nothing answers at http://127.0.0.1:2/mcp: nothing listens there (ECONNREFUSED)',
    ],
    [['ci', '--url', 'URL/nowhere'], 1, 'There is no MCP endpoint at'],
    [['ci', '--url', 'URL/livez'], 1, 'answers 401'],
  ] as const)('%j: says what is wrong and what to do', async (args, code, said) => {
    const ended = await connect(args.map((word) => word.replace('KEY', key.client_id).replace('URL', url)));
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toContain(said);
  });

  it('refuses a wrong secret and asks for one that is not set, never naming it', async () => {
    const wrong = await connect(['ci', '--key', key.client_id], 'not-it');
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toContain('refuses the key');
    expect(wrong.stderr).not.toContain('not-it');
    const missing = await connect(['ci', '--key', key.client_id], ' ');
    expect(missing).toMatchObject({ code: 2, stdout: '' });
    expect(missing.stderr).toContain('Set SIGHTLINE_CLIENT_SECRET.');
  });

  it('finds no fault in itself where a gateway is not what clients need', async () => {
    let [resource, issuer, tokenUrl] = ['', '', ''];
    const server = createServer((request, response) => {
      const base = `http://${request.headers.host}`;
      const json = (value: unknown): void => void response.end(JSON.stringify(value));
      if (request.url === '/token') return json({ access_token: 'token' });
      if (request.url === '/mcp') {
        if (request.headers.authorization !== undefined) return void response.writeHead(500).end('<html>');
        response.setHeader('WWW-Authenticate', `Bearer resource_metadata="${base}/prm"`);
        return void response.writeHead(401).end();
      }
      if (request.url === '/prm') return json({ resource: resource || `${base}/mcp`, authorization_servers: [base] });
      return json({ issuer: issuer || base, token_endpoint: tokenUrl || `${base}/token` });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = z.object({ port: z.number() }).parse(server.address());
    const here = `http://127.0.0.1:${address.port}`;
    const said = async (...args: string[]): Promise<string> => (await connect([...args, '--url', here])).stderr;
    try {
      expect(await said('cursor')).toContain('signs nobody in with a browser');
      expect(await said('ci', '--key', key.client_id)).toContain(
        `The official MCP client cannot list the tools at ${here}/mcp: it answered 500.`,
      );
      tokenUrl = 'http://gateway.example/token';
      expect(await said('ci', '--key', key.client_id)).toContain('is not https');
      issuer = 'https://elsewhere.example';
      expect(await said('ci')).toContain('does not answer for itself');
      resource = 'https://gateway.example/mcp';
      expect(await said('ci')).toContain('Use --url https://gateway.example/mcp');
    } finally {
      server.close();
    }
  });
});
