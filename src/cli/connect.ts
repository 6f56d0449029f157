import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Argument } from 'commander';
import { z } from 'zod';
import { endpointOf } from '../gateway/wiring/urls.ts';
import { clients, type Client, type Connection, type Snippet } from '../web/client-setup/index.ts';
import {
  isId,
  SightlineError,
  type KeyId,
  isObject,
  type JsonObject,
  errorCode,
  parseJson,
} from '../contract/core/index.ts';
import { act, type Register } from './command.ts';
import { discover, exchangeKey, listTools, type Endpoint } from './mcp-endpoint.ts';
import type { Output } from './output.ts';
import { askSecret } from './ask.ts';

const shape = z.object({ url: z.string().optional(), key: z.string().optional(), write: z.boolean().default(false) });

export const register: Register = (program, output, summary) => {
  const command = program
    .command('connect')
    .description(`${summary}; first it is proven with one call`)
    .addArgument(new Argument('<client>', 'the client').choices(clients.map(({ name }) => name)))
    .option('--url <url>', 'the MCP endpoint (default: that of the gateway here)')
    .option(
      '--key <client_id>',
      'an API key, for machines; its secret is taken from SIGHTLINE_CLIENT_SECRET or asked for',
    )
    .option('--write', 'merge it into the file that the client reads');
  act(command, output, shape, async ({ settings, options, operands: [name] }) => {
    const client = clients.find((each) => each.name === name);
    if (client === undefined) throw new SightlineError('not_found', 'There is no such client.');
    const file = options.write ? fileOf(client) : undefined;
    const key = options.key === undefined ? undefined : keyId(options.key);
    const endpoint = await discover(endpointUrl(options.url ?? (await endpointOf(settings))));
    const proof = await prove(endpoint, client, key, output);
    const connection: Connection = {
      url: endpoint.url,
      tokenUrl: endpoint.tokenUrl,
      ...(key !== undefined && { key: { clientId: key } }),
    };
    const changed = file !== undefined && mergeIntoFile(file.path, file.document(connection));
    const snippets = client.snippets(connection);
    output.result(
      {
        client: client.name,
        url: endpoint.url,
        authorization_server: endpoint.authorizationServer,
        token_url: endpoint.tokenUrl,
        tools: proof.tools ?? null,
        file: file === undefined ? null : { path: file.path, changed },
        snippets,
      },
      () => {
        const proven = `${output.style('green', 'ok')}  ${proof.sentence}`;
        if (file === undefined) return [proven, ...shown(snippets, output)].join('\n\n');
        const next = key === undefined && file.signIn !== undefined ? `; ${file.signIn}` : '';
        const written = `${file.path} ${changed ? 'has it now' : 'had it already'}${next}.`;
        // What was written is not shown again, and neither is another way to the same.
        const rest = key === undefined ? [] : snippets.filter(({ language }) => language === 'sh');
        return [`${proven}\n${output.style('green', 'ok')}  ${written}`, ...shown(rest, output)].join('\n\n');
      },
    );
  });
};

interface Proof {
  readonly sentence: string;
  readonly tools?: readonly string[];
}

async function prove(endpoint: Endpoint, client: Client, key: KeyId | undefined, output: Output): Promise<Proof> {
  const { url, authorizationServer, signsPeopleIn } = endpoint;
  if (key !== undefined) {
    const token = await exchangeKey(endpoint, key, await secret(key, output));
    const { revision, tools } = await listTools(endpoint, token);
    return { sentence: `The official MCP client lists ${tools.length} tools at ${url} (${revision}).`, tools };
  }
  if (client.name !== 'ci' && !signsPeopleIn) {
    throw new SightlineError('unavailable', `${authorizationServer} signs nobody in with a browser.`, {
      hint: 'Use an API key: --key CLIENT_ID, which sightline key create makes.',
    });
  }
  return { sentence: `${url} answers, and tokens are had at ${authorizationServer}.` };
}

async function secret(key: KeyId, { json }: Output): Promise<string> {
  const given = process.env['SIGHTLINE_CLIENT_SECRET']?.trim() ?? '';
  if (given !== '') return given;
  const asked = !json && process.stdin.isTTY ? await askSecret(`Secret of ${key} (not shown): `) : '';
  if (asked !== '') return asked;
  throw new SightlineError('invalid_argument', `The secret of ${key} is not known.`, {
    hint: 'Set SIGHTLINE_CLIENT_SECRET. It is never given on the command line, where others on this machine can read it.',
  });
}

function endpointUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    throw new SightlineError(
      'invalid_argument',
      `${JSON.stringify(text.slice(0, 200))} is no URL of an MCP endpoint.`,
      {
        hint: 'It looks like https://sightline.example.com/mcp',
      },
    );
  }
  return url.pathname === '/' ? `${url.origin}/mcp` : `${url.origin}${url.pathname.replace(/\/$/, '')}`;
}

function keyId(text: string): KeyId {
  if (isId('ak', text)) return text;
  throw new SightlineError('invalid_argument', `${JSON.stringify(text.slice(0, 100))} is no client id of an API key.`, {
    hint: 'It looks like ak_01hx…; sightline key list names those there are.',
  });
}

function fileOf({ title, file }: Client): NonNullable<Client['file']> {
  if (file !== undefined) return file;
  throw new SightlineError('invalid_argument', `${title} has no file that is written for it.`, {
    hint: 'Leave out --write: what to type is printed.',
  });
}

function shown(snippets: readonly Snippet[], output: Output): readonly string[] {
  return snippets.map(({ title, text }) => `${output.style('dim', `# ${title}`)}\n${text}`);
}

/**
 * Adds `document` to the file, in its style; false where all was there. `invalid_argument` for no plain JSON. A person's
 * own file, under `~/`, has no version control: what it was is kept as `.bak` beside it.
 */
export function mergeIntoFile(named: string, document: JsonObject): boolean {
  const own = named.startsWith('~/');
  const path = own ? join(homedir(), named.slice(2)) : named;
  const before = readOrNothing(path);
  const existing = before === undefined || before.trim() === '' ? {} : parse(path, before);
  const merged = merge(path, existing, document);
  if (isDeepStrictEqual(merged, existing)) return false;
  mkdirSync(dirname(path), { recursive: true });
  if (own && before !== undefined) copyFileSync(path, `${path}.bak`);
  writeFileSync(path, format(merged, before ?? ''));
  return true;
}

/** Objects are joined, so that other servers stay; a list's things are known by their `id`. */
function merge(path: string, existing: JsonObject, added: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...existing };
  for (const [key, value] of Object.entries(added)) {
    const there = existing[key];
    if (there === undefined) result[key] = value;
    else if (isObject(there) && isObject(value)) result[key] = { ...there, ...value };
    else if (Array.isArray(there) && Array.isArray(value)) result[key] = mergeLists(there, value);
    else throw untouched(path, `"${key}" in ${path} is not what the client expects there`);
  }
  return result;
}

function mergeLists(existing: readonly unknown[], added: readonly unknown[]): readonly unknown[] {
  const id = (value: unknown): unknown => (isObject(value) ? value['id'] : undefined);
  const ids = new Set(added.map(id));
  const at = existing.findIndex((value) => ids.has(id(value)));
  const others = existing.filter((value) => !ids.has(id(value)));
  return at === -1 ? [...others, ...added] : others.toSpliced(at, 0, ...added);
}

function format(value: JsonObject, before: string): string {
  const indentation = /^[{[]\r?\n([ \t]+)/.exec(before.trimStart())?.[1] ?? '  ';
  const text = `${JSON.stringify(value, undefined, indentation)}\n`;
  return before.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
}

function parse(path: string, text: string): JsonObject {
  const value = parseJson(text);
  if (isObject(value)) return value;
  // Comments, mostly: some editors allow them, and rewriting the file would lose them.
  throw untouched(path, `${path} is no plain JSON object`);
}

function untouched(path: string, why: string): SightlineError {
  return new SightlineError('invalid_argument', `${why}, so the file is left as it is.`, {
    hint: `It may have comments, which would be lost. Without --write the command prints what to add to ${path}.`,
  });
}

function readOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return undefined;
    throw new SightlineError('invalid_argument', `The file ${path} cannot be read.`, { cause });
  }
}
