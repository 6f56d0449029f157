import { createServer } from 'node:net';
import { listen } from './listen.ts';

/** A database server for tests, as its administrator sees it. */
export interface DatabaseServer {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  url(database: string, user: string, password: string): string;
  /** Runs statements, several at once too; answers the rows of the last. */
  admin(sql: string, database?: string): Promise<readonly (readonly unknown[])[]>;
  /** A database with a random name. @param template copied, where the server knows how, with what is in it; nobody may be connected to it. */
  createDatabase(template?: string): Promise<string>;
  /** Drops the database, with whatever is connected to it, and the accounts. */
  drop(database: string, accounts?: readonly string[]): Promise<void>;
  /** Only of a server that the test has started. */
  readonly restart?: () => Promise<void>;
  readonly halt?: () => Promise<void>;
  /** As `halt`, but nobody is told and nothing is put in order: the next start recovers. */
  readonly crash?: () => Promise<void>;
  stop(): Promise<void>;
}

export interface Login {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

export function loginOf({ hostname, port, username, password }: URL, usualPort: number): Login {
  return {
    host: hostname,
    port: Number(port || usualPort),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
  };
}

/** A port of the loopback address that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  const port = await listen(probe);
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
