import { setTimeout as delay } from 'node:timers/promises';

/** A client's two ways in. */
export interface Caller {
  list(): Promise<unknown>;
  call(name: string, input: Readonly<Record<string, unknown>>): Promise<unknown>;
}

/** What came of a course, as the client gave it. */
export interface Course {
  readonly listed: unknown;
  /** Of query_otel, start_chat and read_chat. */
  readonly results: readonly [unknown, unknown, unknown];
}

export const statement = 'SELECT * FROM otel.spans';
const question = 'Which service makes checkout fail?';

/** What every client has to be able to do: list, query with rows, start a chat, wait for its answer. */
export async function courseOf({ list, call }: Caller): Promise<Course> {
  const listed = await list();
  const queried = await call('query_otel', { sql: statement });
  const started = await call('start_chat', { message: question });
  const id = /chat_[a-z0-9]{20,}/.exec(JSON.stringify(started))?.[0];
  if (id === undefined) throw new Error(`start_chat answered no chat: ${JSON.stringify(started)}`);
  let read = await call('read_chat', { chat_id: id, wait_seconds: 20 });
  for (let attempt = 0; attempt < 3 && !JSON.stringify(read).includes('completed'); attempt += 1) {
    await delay(100);
    read = await call('read_chat', { chat_id: id, wait_seconds: 20 });
  }
  return { listed, results: [queried, started, read] };
}
