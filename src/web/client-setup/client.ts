import type { KeyId } from '../../contract/core/index.ts';
import { shellWord } from '../../contract/core/quote.ts';

/** What an MCP client needs to know of us, to write its configuration. */
export interface Connection {
  readonly url: string;
  /** Where API keys are exchanged. */
  readonly tokenUrl: string;
  /** Absent where a person signs in. */
  readonly key?: {
    readonly clientId: KeyId;
    /** Shown once, at its making; absent where SIGHTLINE_CLIENT_SECRET holds it already. */
    readonly clientSecret?: string;
  };
}

/** One way to configure a client: a file, or a command to type. */
export interface Snippet {
  /** What to do with it: "Save as .cursor/mcp.json". */
  readonly title: string;
  readonly language: 'sh' | 'json' | 'yaml';
  readonly text: string;
}

/** The file that a client reads its servers from. */
export interface ClientFile {
  /** From the project's folder, as `.cursor/mcp.json`, or the person's, as `~/.copilot/mcp-config.json`. */
  readonly path: string;
  /** The whole file, were there nothing else in it. It never holds a secret. */
  document(connection: Connection): Readonly<Record<string, unknown>>;
  /** What a person does once it is saved: "Cursor asks you to sign in". */
  readonly signIn?: string;
}

export interface Client {
  /** As on the command line: `claude`. */
  readonly name: string;
  /** As its makers write it: `Claude Code`. */
  readonly title: string;
  readonly file?: ClientFile;
  snippets(connection: Connection): readonly Snippet[];
}

type SetUp = (connection: Connection) => readonly Snippet[];

/** A client in which a person signs in, or which has a token by a key: then the secret comes first. */
export function client(about: Omit<Client, 'snippets'>, bySignIn: SetUp, byKey: SetUp): Client {
  return {
    ...about,
    snippets: (connection) =>
      connection.key === undefined ? bySignIn(connection) : [...secretIntoVariable(connection), ...byKey(connection)],
  };
}

export function command(title: string, text: string): Snippet {
  return { title, language: 'sh', text };
}

export function settings(title: string, value: Readonly<Record<string, unknown>>): Snippet {
  return { title, language: 'json', text: JSON.stringify(value, undefined, 2) };
}

/** Words of a POSIX shell: what an exchange and a call have to name. */
interface Words {
  readonly url: string;
  readonly tokenUrl: string;
  readonly clientId: string;
}

export const inVariables: Words = {
  url: '"$SIGHTLINE_URL"',
  tokenUrl: '"$SIGHTLINE_TOKEN_URL"',
  clientId: '"$SIGHTLINE_CLIENT_ID"',
};

export function wordsOf({ url, tokenUrl, key }: Connection): Words {
  return {
    url: shellWord(url),
    tokenUrl: shellWord(tokenUrl),
    clientId: key === undefined ? inVariables.clientId : shellWord(key.clientId),
  };
}

/**
 * A pipeline that exchanges the key for a token and prints `answer` with the token in place of `\1`, or nothing. It
 * needs curl and sed alone. The secret goes through a pipe: a command's arguments can be read by all on the machine.
 */
export function exchange({ tokenUrl, clientId }: Words, answer: string, between = ' \\\n  '): string {
  return [
    `printf %s "$SIGHTLINE_CLIENT_SECRET" | curl -fsS ${tokenUrl}`,
    '--data-urlencode grant_type=client_credentials',
    `--data-urlencode client_id=${clientId}`,
    '--data-urlencode client_secret@-',
    `| sed -n 's/.*"access_token" *: *"\\([^"]*\\)".*/${answer}/p'`,
  ].join(between);
}

/** Sets SIGHTLINE_TOKEN in the shell that runs it. */
export function exchangeIntoVariable(named: Words): string {
  return `export SIGHTLINE_TOKEN="$(${exchange(named, String.raw`\1`)})"`;
}

/** Lists the tools, with the token in SIGHTLINE_TOKEN. */
export function listTools({ url }: Words): string {
  return `curl -fsS ${url} \\
  -H "Authorization: Bearer $SIGHTLINE_TOKEN" \\
  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\
  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'`;
}

/** Puts the secret into the environment, where it is known; else it is there already. */
export function secretIntoVariable(
  { key }: Connection,
  title = 'Put the secret where your programs find it',
): readonly Snippet[] {
  if (key?.clientSecret === undefined) return [];
  return [command(title, `export SIGHTLINE_CLIENT_SECRET=${shellWord(key.clientSecret)}`)];
}

export function startWithToken(connection: Connection, title: string, start: string): Snippet {
  return command(
    `Start ${title} with a token; it is good for one hour`,
    `${exchangeIntoVariable(wordsOf(connection))}\n${start}`,
  );
}
