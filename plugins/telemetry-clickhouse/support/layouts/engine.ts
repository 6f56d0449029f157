import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Rows } from '../../quote.ts';

export interface Engine extends AsyncDisposable {
  readonly rows: Rows;
  /** Holds the tables after the engine ended, until `remove`. */
  readonly directory: string;
}

/** The engine of ClickHouse in a process of its own. With `usersXml`: its one user, `default`, as that says. */
export async function openEngine({
  directory = newDirectory(),
  usersXml,
}: { readonly directory?: string; readonly usersXml?: string } = {}): Promise<Engine> {
  const child = fork(
    join(import.meta.dirname, 'engine-process.ts'),
    [join(directory, 'data'), ...configuration(directory, usersXml)],
    { execArgv: [], cwd: directory, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  );
  const ended = once(child, 'exit').then(() => {
    throw new Error('the engine ended');
  });
  // A process that ends while nobody waits for an answer is no failure.
  ended.catch(() => undefined);
  await Promise.race([once(child, 'message'), ended]);
  let turn: Promise<unknown> = Promise.resolve();
  const ask = async (sql: string) => {
    const answered = once(child, 'message');
    child.send({ sql });
    const [answer] = await Promise.race([answered, ended]);
    if (typeof answer?.error === 'string') throw new Error(answer.error);
    return parse(String(answer?.text ?? ''));
  };
  return {
    directory,
    rows: (sql) => {
      const answer = turn.then(() => ask(sql));
      turn = answer.catch(() => undefined);
      return answer;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.disconnect();
      await ended.catch(() => undefined);
    },
  };
}

export function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'sightline-clickhouse-'));
}

export function remove(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

function configuration(directory: string, usersXml: string | undefined): readonly string[] {
  if (usersXml === undefined) return [];
  const users = join(directory, 'users.xml');
  const config = join(directory, 'config.xml');
  writeFileSync(users, usersXml);
  writeFileSync(
    config,
    `<clickhouse><users_config>${users}</users_config><default_profile>default</default_profile>
     <access_control_improvements><settings_constraints_replace_previous>true</settings_constraints_replace_previous>
     </access_control_improvements></clickhouse>`,
  );
  return [`--config-file=${config}`];
}

function parse(text: string): readonly Readonly<Record<string, unknown>>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Readonly<Record<string, unknown>> => JSON.parse(line));
}
