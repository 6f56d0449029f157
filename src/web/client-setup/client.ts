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

/** The file in a project's folder that a client reads its servers from. */
export interface ProjectFile {
  /** From the project's folder: `.cursor/mcp.json`. */
  readonly path: string;
  /** The whole file, were there nothing else in it. It never holds a secret. */
  document(connection: Connection): Readonly<Record<string, unknown>>;
}

export interface Client {
  /** As on the command line: `claude`. */
  readonly name: string;
  /** As its makers write it: `Claude Code`. */
  readonly title: string;
  readonly file?: ProjectFile;
  snippets(connection: Connection): readonly Snippet[];
}
