import type { KeyId } from '../contract/index.ts';

/** What an MCP client needs to know of us, to write its configuration. */
export interface Connection {
  /** The MCP endpoint. */
  readonly url: string;
  /** Where API keys are exchanged. */
  readonly tokenUrl: string;
  /** Shown once, at its making; absent where a person signs in. */
  readonly key?: { readonly clientId: KeyId; readonly clientSecret: string };
}

/** One way to configure a client: a file, or a command to type. */
export interface Snippet {
  /** What to do with it: "Save as .cursor/mcp.json". */
  readonly title: string;
  readonly language: 'sh' | 'json' | 'yaml';
  readonly text: string;
}

export interface Client {
  /** As on the command line: `claude`. */
  readonly name: string;
  /** As its makers write it: `Claude Code`. */
  readonly title: string;
  snippets(connection: Connection): readonly Snippet[];
}
