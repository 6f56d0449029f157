import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientOld } from 'mcp-sdk-1-10/client/index.js';
import { StreamableHTTPClientTransport as TransportOld } from 'mcp-sdk-1-10/client/streamableHttp.js';
import { z } from 'zod';
import { toolNames } from '../../src/contract/core/index.ts';
import { countRows } from '../support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  root,
  sightline,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from '../support/gateway.ts';
import { MemoryClient } from '../support/oauth-client.ts';
import { createPerson } from '../support/people.ts';
import type { Person } from '../support/person.ts';
import { courseOf, type Caller, type Course } from './course.ts';

/* The clients that are quick to drive; `npm run clients` drives all others. */

interface Connected extends Caller {
  close(): Promise<void>;
}

type Access = { readonly token: string } | { readonly oauth: MemoryClient };

const info = { name: 'sightline-test', version: '0.0.0' };
const listed = z.object({ tools: z.array(z.looseObject({ name: z.string() })) });
const answered = z.object({ structuredContent: z.record(z.string(), z.unknown()) });

function requestInit(access: Access): { readonly requestInit?: RequestInit } {
  return 'token' in access ? { requestInit: { headers: { authorization: `Bearer ${access.token}` } } } : {};
}

function options(access: Access) {
  return { ...requestInit(access), ...('oauth' in access && { authProvider: access.oauth }) };
}

/** Each SDK with its transport, and what ends a sign-in. */
const sdks = {
  'SDK v1 1.10': (url: URL, access: Access) => {
    const [client, transport] = [new ClientOld(info), new TransportOld(url, options(access))];
    return {
      // @ts-expect-error: its own types are not exact about what is optional
      connect: () => client.connect(transport),
      finish: (back: URLSearchParams) => transport.finishAuth(back.get('code') ?? ''),
      list: () => client.listTools(),
      call: (name: string, input: Readonly<Record<string, unknown>>) => client.callTool({ name, arguments: input }),
      close: () => client.close(),
    };
  },
  'SDK v1 1.32': (url: URL, access: Access) => {
    const [client, transport] = [new ClientV1(info), new TransportV1(url, options(access))];
    return {
      connect: () => client.connect(transport),
      finish: (back: URLSearchParams) => transport.finishAuth(back.get('code') ?? ''),
      list: () => client.listTools(),
      call: (name: string, input: Readonly<Record<string, unknown>>) => client.callTool({ name, arguments: input }),
      close: () => client.close(),
    };
  },
  'SDK v2': (url: URL, access: Access) => {
    const client = new ClientV2(info, { versionNegotiation: { mode: 'auto' } });
    const transport = new TransportV2(url, options(access));
    return {
      connect: () => client.connect(transport),
      finish: (back: URLSearchParams) => transport.finishAuth(back),
      list: () => client.listTools(),
      call: (name: string, input: Readonly<Record<string, unknown>>) => client.callTool({ name, arguments: input }),
      close: () => client.close(),
    };
  },
} as const;
type Sdk = keyof typeof sdks;
const names: readonly Sdk[] = ['SDK v1 1.10', 'SDK v1 1.32', 'SDK v2'];

describe('clients that are quick to drive', () => {
  let gateway: RunningGateway;
  let directory = '';
  let token = '';
  let person: Person;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    gateway = await startGateway(directory);
    token = await exchange(gateway.url, await createKey(directory, 'acme'));
    expect(await sightline(directory, ['demo', '--minutes', '10', '--seed', '7', '--org', 'acme'])).toMatchObject({
      code: 0,
    });
    await countRows(gateway.url, token, 'otel.spans', 101);
    person = await createPerson(gateway, { email: 'ada@acme.example', organization: 'acme', role: 'admin' });
  });

  afterAll(async () => {
    await gateway.stop();
    await removeDirectory(directory);
  });

  /** The endpoint by every name it has on this machine, and with the slash that people type. */
  const endpoint = (host: string, path: string): URL => new URL(gateway.url.replace('127.0.0.1', host) + path);

  /** Where the person's Allow leads. */
  const allow = async (asked: string): Promise<URL> => (await person.press(await person.open(asked), 'Allow')).url;

  async function seeCourse(client: Connected): Promise<void> {
    try {
      whole(await courseOf(client));
    } finally {
      await client.close();
    }
  }

  describe.each(names)('%s', (name) => {
    it.each([
      ['127.0.0.1', '/mcp'],
      ['127.0.0.1', '/mcp/'],
      ['localhost', '/mcp'],
      ['localhost', '/mcp/'],
    ])('does the course with a token at %s%s', async (host, path) => {
      const client = sdks[name](endpoint(host, path), { token });
      await client.connect();
      await seeCourse(client);
    });

    it('does the course once a person has allowed it', async () => {
      const oauth = new MemoryClient({ redirectUrl: 'http://127.0.0.1:41414/callback' });
      const url = endpoint('127.0.0.1', '/mcp');
      const refused = sdks[name](url, { oauth });
      await expect(refused.connect()).rejects.toThrow(/unauthorized/i);
      await refused.finish((await allow(oauth.destination.href)).searchParams);
      const client = sdks[name](url, { oauth });
      await client.connect();
      await seeCourse(client);
    });
  });

  describe('mcp-remote', () => {
    const bridges: ClientV1[] = [];
    afterAll(() => Promise.all(bridges.map((client) => client.close())));

    async function bridge(url: URL, home: string, words: readonly string[]): Promise<Connected> {
      const client = new ClientV1(info);
      bridges.push(client);
      const program = join(root, 'node_modules/mcp-remote/dist/proxy.js');
      const args = [program, url.href, '--allow-http', ...words];
      const env = { HOME: home, PATH: `${home}:${process.env['PATH']}`, BROWSER: join(home, 'xdg-open') };
      await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
      return {
        list: () => client.listTools(),
        call: (tool, input) => client.callTool({ name: tool, arguments: input }),
        close: () => client.close(),
      };
    }

    it('does the course with a token', async () => {
      await seeCourse(
        await bridge(endpoint('127.0.0.1', '/mcp'), directory, ['--header', `Authorization: Bearer ${token}`]),
      );
    });

    it.each([
      ['127.0.0.1', '/mcp'],
      ['localhost', '/mcp'],
      ['localhost', '/mcp/'],
    ])('does the course at %s%s once a person has allowed it in the browser that it opens', async (host, path) => {
      const home = join(directory, `home-${host}${path.replaceAll('/', '-')}`);
      const [opened, browser] = [join(home, 'opened'), join(home, 'xdg-open')];
      await mkdir(home);
      await writeFile(browser, `#!/bin/sh\nprintf %s "$1" >"${opened}"\n`);
      await chmod(browser, 0o755);
      const connecting = bridge(endpoint(host, path), home, []);
      const [asked] = await Promise.all([written(opened), Promise.race([connecting, delay(0)])]);
      expect((await fetch(await allow(asked))).status).toBe(200);
      await seeCourse(await connecting);
    });
  });
});

/** The file's text, once another process has written it. */
async function written(path: string): Promise<string> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (text !== '') return text;
    await delay(100);
  }
  throw new Error(`nothing wrote ${path}`);
}

/** All tools, the rows up to the cut with its head, and the agent's answer. */
function whole({ listed: list, results }: Course): void {
  expect(listed.parse(list).tools.map(({ name }) => name)).toEqual(toolNames);
  const [queried, , read] = results.map((result) => answered.parse(result).structuredContent);
  expect(queried).toMatchObject({
    truncated: true,
    result_id: expect.any(String),
    warnings: [expect.stringContaining('were not read')],
    rows: expect.any(Array),
  });
  expect(z.object({ row_count: z.number(), rows: z.array(z.unknown()) }).parse(queried)).toMatchObject({
    rows: { length: queried?.['row_count'] },
  });
  expect(read).toMatchObject({ chat: { status: 'completed' } });
}
