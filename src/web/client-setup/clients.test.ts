import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { defaultLoadersSync } from 'cosmiconfig';
import fc from 'fast-check';
import { z } from 'zod';
import { newId } from '../../contract/core/index.ts';
import { claude } from './commands.ts';
import { clients, type Client, type Connection, type Snippet } from './index.ts';

const person: Connection = { url: 'https://example.com/mcp', tokenUrl: 'https://example.com/oauth2/token' };
const machine: Connection = { ...person, key: { clientId: newId('ak'), clientSecret: 'sk_very-secret' } };
const both = clients.flatMap((client) => [
  { name: `${client.name} for a person`, client, connection: person },
  { name: `${client.name} with a key`, client, connection: machine },
]);

function texts(client: Client, connection: Connection, language: Snippet['language']): string[] {
  return client
    .snippets(connection)
    .filter((snippet) => snippet.language === language)
    .map(({ text }) => text);
}

/** The arguments of every program that the snippets start, and what was piped into it; nothing is really started. */
function started(commands: readonly string[]): readonly (readonly string[])[] {
  const programs = ['claude', 'code', 'codex', 'gemini', 'copilot', 'opencode', 'cline', 'goose', 'zed', 'windsurf'];
  const stubs = [...programs, 'cursor', 'npx', 'gh', 'curl']
    .map((name) => `${name}() { printf '%s\\0' ${name} "$@" "$(cat)" that-is-all >&3; }`)
    .join('\n');
  const script = [stubs, 'sed() { cat; }', ...commands].join('\n');
  const output = execFileSync('/bin/sh', ['-e', '-c', `( ${script}\n) 3>&1 >/dev/null`], {
    input: '',
    encoding: 'utf8',
  });
  return output
    .split('\0that-is-all\0')
    .filter((call) => call !== '')
    .map((call) => call.split('\0'));
}

const withHelper = z.object({ mcpServers: z.object({ sightline: z.object({ headersHelper: z.string() }) }) });

/** The command that Claude Code runs for its headers. */
function helperOf(connection: Connection): string {
  return withHelper.parse(claude.file?.document(connection)).mcpServers.sightline.headersHelper;
}

describe('the configuration of clients', () => {
  it.each(both)('$name: JSON and YAML can be read, and name the endpoint', ({ client, connection }) => {
    const read = [
      ...texts(client, connection, 'json').map((text): unknown => JSON.parse(text)),
      ...texts(client, connection, 'yaml').map((text): unknown => defaultLoadersSync['.yaml']('workflow.yml', text)),
    ];
    for (const value of read) expect(JSON.stringify(value)).toContain(JSON.stringify(connection.url));
    if (client.file === undefined) return;
    expect(texts(client, connection, 'json')).toEqual([JSON.stringify(client.file.document(connection), undefined, 2)]);
  });

  it.each(both)('$name: the secret stands in no file', ({ client, connection }) => {
    for (const language of ['json', 'yaml'] as const)
      expect(texts(client, connection, language).join('\n')).not.toContain('sk_very-secret');
  });

  it.each(clients)('$name: a person needs the URL alone, and is told how', (client) => {
    const snippets = client.snippets(person);
    expect(snippets.length).toBeGreaterThan(0);
    expect(snippets.map(({ text }) => text).join('\n')).toContain(person.url);
    if (client.name !== 'ci') expect(JSON.stringify(snippets)).not.toMatch(/TOKEN|SECRET|header/i);
  });

  it.each([
    ['cursor', { url: person.url, headers: { Authorization: 'Bearer ${env:SIGHTLINE_TOKEN}' } }],
    ['gemini', { httpUrl: person.url, headers: { Authorization: 'Bearer $SIGHTLINE_TOKEN' } }],
    [
      'copilot',
      { type: 'http', url: person.url, tools: ['*'], headers: { Authorization: 'Bearer ${SIGHTLINE_TOKEN}' } },
    ],
    [
      'opencode',
      { type: 'remote', url: person.url, oauth: false, headers: { Authorization: 'Bearer {env:SIGHTLINE_TOKEN}' } },
    ],
    [
      'zed',
      {
        command: 'npx',
        args: ['-y', 'mcp-remote@0.15.1', person.url, '--header', 'Authorization:Bearer ${SIGHTLINE_TOKEN}'],
      },
    ],
    ['windsurf', { serverUrl: person.url, headers: { Authorization: 'Bearer ${env:SIGHTLINE_TOKEN}' } }],
  ])('%s: names the variable with the token as its makers do', (name, entry) => {
    const document = clients.find((client) => client.name === name)?.file?.document(machine) ?? {};
    expect(Object.values(document)).toEqual([{ sightline: entry }]);
  });

  it('a secret that is not known here is not asked for in a file or a command', () => {
    const { clientSecret: _, ...key } = { clientSecret: '', ...machine.key, clientId: newId('ak') };
    for (const client of clients) {
      const text = client
        .snippets({ ...person, key })
        .map((snippet) => snippet.text)
        .join('\n');
      expect(text).not.toMatch(/export SIGHTLINE_CLIENT_SECRET|undefined/);
    }
  });

  it('whatever the URL and the secret are, a shell reads them as they are', () => {
    const hostile = fc.string({
      unit: fc.constantFrom(...Array.from(`'"\\$\`!*?#&;|<>(){}[]~ \t\n=-a%é`)),
      maxLength: 20,
    });
    fc.assert(
      fc.property(hostile, hostile, hostile, (path, token, secret) => {
        const connection: Connection = {
          url: `https://a.example/${path}/mcp`,
          tokenUrl: `https://a.example/${token}/token`,
          key: { clientId: newId('ak'), clientSecret: `s${secret}.` },
        };
        const signedIn: Connection = { url: connection.url, tokenUrl: connection.tokenUrl };
        const calls = started([
          ...clients.flatMap((client) => texts(client, connection, 'sh')),
          helperOf(connection),
          ...clients.flatMap((client) => texts(client, signedIn, 'sh')),
        ]);
        const exchanges = calls.filter((call) => call.includes(connection.tokenUrl));
        expect(exchanges).toHaveLength(14);
        for (const call of exchanges.slice(0, 13)) {
          expect(call.at(-1)).toBe(`s${secret}.`);
          expect(call.slice(0, -1).join(' ')).not.toContain(`s${secret}.`);
        }
        expect(calls.find(([name]) => name === 'claude')).toContain(connection.url);
        const [, , entry = ''] = calls.find(([name]) => name === 'code') ?? [];
        expect(z.object({ url: z.string() }).parse(JSON.parse(entry)).url).toBe(connection.url);
        for (const name of ['npx', 'codex', 'cline']) {
          expect(calls.filter((call) => call[0] === name && call.includes(connection.url))).toHaveLength(2);
        }
      }),
      { numRuns: 60 },
    );
  });
});
