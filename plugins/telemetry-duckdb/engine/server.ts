import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { version } from '@duckdb/node-api';
import {
  frame,
  frameKind,
  FrameReader,
  writeFrame,
  type Frame,
  queriesAtOnce,
  type Committed,
  type Failure,
  type Hello,
  type Idle,
  type Newest,
  type Released,
  type Request,
  type Retained,
} from '../protocol.ts';
import type { Database } from './database.ts';
import { InterruptedError, Job, say, BusyError, Turns } from './job.ts';
import { BadBatchError, Loader } from './load.ts';
import { NotSelectError, runQuery, Statements } from './query.ts';

/** How long an engine waits for its first visitor. */
const firstVisitMs = 15_000;

interface Engine {
  readonly database: Database;
  readonly statements: Statements;
  readonly loader: Loader;
  readonly queries: Turns;
  /** Connections that said hello. Another engine process only looks whether somebody answers, and leaves. */
  readonly visitors: Set<Socket>;
  /** Those that said they would leave; a connection that ends without a word is a gateway that died. */
  readonly released: WeakSet<Socket>;
  running: number;
  /** Of these, the ones for an organization. */
  working: number;
  /** When it last had such. */
  workedAt: number;
}

interface Answer {
  readonly header: object;
  readonly payload?: Uint8Array;
}

interface Asker {
  readonly socket: Socket;
  /** What it asked for and has not ended. */
  readonly jobs: ReadonlyMap<number, Job>;
  part(part: Answer): void;
  reply(answer: Answer): void;
}

/** Answers on the socket until the last connection closes, then ends the process. */
export function serve(database: Database, socketPath: string): void {
  const engine: Engine = {
    database,
    statements: new Statements(database),
    loader: new Loader(database),
    // Each gateway process sends no more than these; where several serve, what is too many of theirs together waits here.
    queries: new Turns(queriesAtOnce, 32, 10_000),
    visitors: new Set(),
    released: new WeakSet(),
    running: 0,
    working: 0,
    workedAt: performance.now(),
  };
  // The holder of the file's lock owns the socket path: an existing socket is left over from a dead process.
  rmSync(socketPath, { force: true });
  const server = createServer((socket) => attend(engine, server, socket));
  server.listen(socketPath, () => chmodSync(socketPath, 0o600));
  const endUnlessVisited = () => {
    if (engine.visitors.size === 0) end(engine, server, true);
  };
  setTimeout(endUnlessVisited, firstVisitMs);
  // From who started it and found another one serving; visitors end it by leaving.
  process.on('SIGTERM', endUnlessVisited);
}

function attend(engine: Engine, server: Server, socket: Socket): void {
  const jobs = new Map<number, Job>();
  const reader = new FrameReader((received) => {
    if (received.kind === frameKind.cancel) jobs.get(received.id)?.cancel();
    else if (received.kind === frameKind.request) void handle(engine, socket, jobs, received);
  });
  socket.on('data', (chunk) => {
    try {
      reader.push(chunk);
    } catch (error) {
      say(`a connection was closed: ${String(error)}`);
      socket.destroy();
    }
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    for (const job of jobs.values()) job.cancel();
    if (engine.visitors.delete(socket) && engine.visitors.size === 0) end(engine, server, engine.released.has(socket));
  });
}

/** Removes the socket while it holds the lock, so that it cannot be a successor's; then closes the file. */
function end(engine: Engine, server: Server, released: boolean): void {
  server.close();
  if (engine.running > 0 || !released) {
    // The gateway died, and the next one wants the file now: a checkpoint takes seconds where replaying the log takes
    // less than one. What is committed is in that log; the rest is what a rollback undoes.
    process.kill(process.pid, 'SIGKILL');
  }
  // With no connection left, closing writes a checkpoint, and the next one opens without a log to replay.
  engine.statements.close();
  engine.loader.close();
  engine.database.close();
  process.exit(0);
}

async function handle(engine: Engine, socket: Socket, jobs: Map<number, Job>, received: Frame): Promise<void> {
  const job = new Job();
  jobs.set(received.id, job);
  engine.running += 1;
  const send = (kind: number, { header, payload }: Answer) => {
    if (socket.destroyed) return;
    writeFrame(socket, frame(received.id, kind, header, payload ? [payload] : []));
  };
  try {
    await answer(engine, JSON.parse(received.header), received.payload, job, {
      socket,
      jobs,
      part: (part) => send(frameKind.part, part),
      reply(said) {
        job.answered = true;
        send(frameKind.reply, said);
      },
    });
  } catch (error) {
    send(frameKind.failure, { header: failure(error, job) });
    // The engine refuses everything after such an error, so a new process has to take over.
    if (error instanceof Error && /^(FATAL|INTERNAL) Error/i.test(error.message)) {
      say(shortened(error.message));
      process.exit(70);
    }
  } finally {
    engine.running -= 1;
    job.done();
    jobs.delete(received.id);
  }
}

async function answer(engine: Engine, request: Request, payload: Buffer, job: Job, asker: Asker): Promise<void> {
  const { socket } = asker;
  switch (request.op) {
    case 'hello':
      engine.visitors.add(socket);
      return asker.reply({ header: { pid: process.pid, version: version() } satisfies Hello });
    case 'idle': {
      const ms = engine.working > 0 ? 0 : performance.now() - engine.workedAt;
      return asker.reply({ header: { ms } satisfies Idle });
    }
    case 'make_room':
      for (const visitor of engine.visitors) writeFrame(visitor, frame(0, frameKind.leave, {}));
      return asker.reply({ header: {} });
    case 'release': {
      engine.released.add(socket);
      // It leaves next, and a transaction that is still being ended would look like one that it leaves behind.
      await Promise.all([...asker.jobs.values()].filter(({ answered }) => answered).map(({ ended }) => ended));
      const shared = [...engine.visitors].some((other) => other !== socket);
      return asker.reply({ header: { shared } satisfies Released });
    }
    default:
  }
  engine.working += 1;
  try {
    await workOn(engine, request, payload, job, asker);
  } finally {
    engine.working -= 1;
    engine.workedAt = performance.now();
  }
}

type Work = Exclude<Request, { readonly op: 'hello' | 'idle' | 'make_room' | 'release' }>;

async function workOn(
  engine: Engine,
  request: Work,
  payload: Buffer,
  job: Job,
  { part, reply }: Pick<Asker, 'part' | 'reply'>,
): Promise<void> {
  switch (request.op) {
    case 'parse':
      return reply({ header: {}, payload: Buffer.from(await engine.statements.parse(request.sql, job)) });
    case 'query': {
      const end = await engine.queries.run(job, () =>
        runQuery(engine.database, request.sql, request, job, (header, rows) =>
          (header.end === undefined ? part : reply)({ header, payload: Buffer.from(rows) }),
        ),
      );
      return await end();
    }
    case 'committed':
      return reply({ header: (await engine.loader.committed(request.log, job)) satisfies Committed });
    case 'load': {
      const { log, segment, offset, lengths } = request;
      await engine.loader.load({ log, segment, offset, batches: split(payload, lengths) }, job);
      return reply({ header: {} });
    }
    case 'retain':
      return reply({ header: (await engine.loader.retain(request.beforeMs, job)) satisfies Retained });
    case 'newest':
      return reply({ header: (await engine.loader.newest(job)) satisfies Newest });
  }
}

function split(payload: Buffer, lengths: readonly number[]): Uint8Array[] {
  let at = 0;
  return lengths.map((length) => {
    // A copy: the columns of a decoded batch lie on its bytes at multiples of eight.
    const bytes = new Uint8Array(payload.subarray(at, at + length));
    at += length;
    return bytes;
  });
}

/** Of a message: the engine quotes values, and a value can be as large as its memory. */
const messageHead = 2_000;
const messageTail = 500;

function shortened(message: string): string {
  if (message.length <= messageHead + messageTail) return message;
  return `${message.slice(0, messageHead)}…${message.slice(-messageTail)}`;
}

function failure(error: unknown, job: Job): Failure {
  const message = shortened(error instanceof Error ? error.message : String(error));
  if (error instanceof BusyError) return { kind: 'busy', message };
  if (error instanceof NotSelectError) return { kind: 'not_select', message };
  if (error instanceof BadBatchError) return { kind: 'bad_batch', message };
  if (error instanceof InterruptedError || (job.cancelled && /^INTERRUPT Error/i.test(message))) {
    return { kind: 'interrupted', message };
  }
  return { kind: 'engine', message };
}
