import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sightline, temporaryDirectory } from '../../test/support/gateway.ts';
import { startDatabase, type Database, type Engine } from './database.ts';
import { startFront } from './front.ts';
import { inspected } from './live-memory.ts';
import { Replica } from './replica.ts';

const replicaCount = 3;
/** Is never ended, so that its memory can be followed from the start to the end. */
export const spared = 2;
/** Longer than the front takes to notice, but on a machine that stands still. */
export const leaveSeconds = 3;
const readyMs = 120_000;
const lookMs = 20;

export interface Serving {
  readonly number: number;
  readonly url: string;
}

/** The servers, the gateways over them and the front before those. */
export interface Stage {
  /** Of the front. */
  readonly url: string;
  readonly database: Database;
  readonly replicas: readonly Replica[];
  readonly organization: string;
  /** For files of the run. */
  readonly directory: string;
  /** Replicas to which the front gives requests. */
  serving(): readonly Serving[];
  /** Replicas that were started and not ended; one of them may be frozen. */
  running(): readonly Serving[];
  /**
   * Resolves when each has said in answer to a question of the front's that was asked from now on that it is ready, with the
   * milliseconds that it took. Rejects with what is the matter when one has ended, or takes too long.
   */
  untilServing(replicas: readonly number[]): Promise<number>;
  /** Resolves when the front gives it no requests any more, with the milliseconds that it took. */
  untilLeft(replica: number): Promise<number>;
  /** `sightline …` with --json. */
  command(args: readonly string[]): ReturnType<typeof sightline>;
  /** Something that `close` waits for. */
  afterwards(work: Promise<unknown>): void;
  settled(): Promise<void>;
  close(): Promise<void>;
}

export async function setStage(engine: Engine): Promise<Stage> {
  const directory = await temporaryDirectory();
  const database = await startDatabase(engine);
  const replicas: Replica[] = [];
  const front = await startFront(replicaCount, (number) => replicas[number]?.url);
  const env = { SIGHTLINE_MASTER_KEY: randomBytes(32).toString('base64url') };
  const config = join(directory, 'sightline.config.json');
  await writeFile(
    config,
    JSON.stringify({
      publicUrl: front.url,
      listen: { leaveSeconds },
      limits: { requestsPerMinute: 1_000_000 },
      storage: { plugin: 'knex', ...database.store.config },
      telemetry: { plugin: 'postgres', ...database.warehouse.config },
      agent: { plugin: join(import.meta.dirname, 'agent.ts'), steps: 6, stepMs: 250 },
    }),
  );
  for (let number = 0; number < replicaCount; number += 1) {
    const dataDirectory = join(directory, `replica-${number}`);
    await mkdir(dataDirectory);
    const followed = number === spared ? { ...env, ...inspected } : env;
    replicas.push(
      new Replica(number, dataDirectory, { args: ['--no-demo', '--config', config], env: followed, readyMs }),
    );
  }
  const killAll = (): void => {
    for (const replica of replicas) replica.killNow();
  };
  process.once('exit', killAll);
  const pending = new Set<Promise<unknown>>();
  const commandDirectory = join(directory, 'command');
  await mkdir(commandDirectory);
  const serving = (numbers: readonly number[]): readonly Serving[] =>
    numbers.flatMap((number) => {
      const url = replicas[number]?.url;
      return url === undefined ? [] : [{ number, url }];
    });
  const stage: Stage = {
    url: front.url,
    database,
    replicas,
    organization: 'chaos',
    directory,
    serving: () => serving(front.ready),
    running: () => serving(replicas.map(({ number }) => number)),
    async untilServing(wanted) {
      const since = performance.now();
      for (;;) {
        const missing = wanted.filter((number) => !(front.ready.includes(number) && front.asked(number) >= since));
        if (missing.length === 0) return performance.now() - since;
        const late = performance.now() - since > readyMs;
        const troubles = missing.flatMap((number) => {
          const why =
            replicas[number]?.ended ??
            (late ? `is not ready after ${readyMs / 1_000} s: ${front.said(number)}` : undefined);
          return why === undefined ? [] : [`replica ${number} ${why}`];
        });
        if (troubles.length > 0) throw new Error(troubles.join('; '));
        await sleep(lookMs);
      }
    },
    async untilLeft(replica) {
      const since = performance.now();
      while (front.ready.includes(replica)) await sleep(lookMs);
      return performance.now() - since;
    },
    command: (args) => sightline(commandDirectory, [...args, '--json', '--config', config], { env }),
    afterwards(work) {
      const waited = work.finally(() => pending.delete(waited));
      pending.add(waited);
    },
    async settled() {
      await Promise.all(pending);
    },
    async close() {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await front.close();
      await database.stop();
      process.off('exit', killAll);
      await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
  try {
    await Promise.all(replicas.map((replica) => replica.start()));
    await stage.untilServing(replicas.map(({ number }) => number));
    return stage;
  } catch (error) {
    await stage.close();
    throw error;
  }
}
