import type { KeyId } from '../../contract/core/index.ts';

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
