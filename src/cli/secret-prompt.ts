import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
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
