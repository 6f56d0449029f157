import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import {
  authorityHint,
  bodyWithin,
  parseJson,
  SightlineError,
  troubleBehind,
  type Trouble,
} from '../contract/core/index.ts';
import { Exit } from './exit.ts';

/** Reads a line from the terminal without showing it. Only where standard input is one. */
export async function askSecret(question: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  const interrupted = new AbortController();
  terminal.on('SIGINT', () => interrupted.abort());
  process.stderr.write(question);
  try {
    return (await terminal.question('', { signal: interrupted.signal })).trim();
  } catch {
    throw new Exit(130);
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where it is no JSON. */
  readonly body: unknown;
}

export const timeoutMs = 10_000;
const maxBytes = 1_048_576;

/** One request; follows no redirect and reads a mebibyte at most. Throws `unavailable` where nothing answers. */
export async function ask(url: string, init: RequestInit = {}): Promise<Answered> {
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    const { status, headers } = response;
    return { status, headers, body: parseJson((await bodyWithin(response, maxBytes))?.toString('utf8') ?? '') };
  } catch (cause) {
    const late = cause instanceof Error && cause.name === 'TimeoutError';
    const { reason, hint }: Trouble = late
      ? { reason: `no answer in ${timeoutMs / 1000} seconds` }
      : troubleBehind(cause);
    throw new SightlineError('unavailable', `Nothing answers at ${url}: ${reason}.`, {
      cause,
      hint:
        hint === authorityHint
          ? hint
          : 'Is the gateway running (sightline serve), and is this its address as seen from here (--url)?',
    });
  }
}

/** Whether what is sent there cannot be read on the way: https, or this machine. */
export function isPrivate(url: string): boolean {
  return new URL(url).protocol === 'https:' || isLoopback(url);
}

export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
