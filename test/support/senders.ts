import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { callTool, type Called } from './call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from './gateway.ts';

/** Where a gateway takes gRPC, as its log says. */
export function grpcPort(gateway: RunningGateway): number {
  return Number(/"grpc":(\d+)/.exec(gateway.output())?.[1]);
}

/** A gateway for senders, and one organization in it. */
export interface Receiving {
  /** Of `restart`, the latest. */
  gateway: RunningGateway;
  readonly directory: string;
  /** The ingest token. */
  readonly token: string;
  /** One call of query_otel. */
  query(args: Readonly<Record<string, unknown>>): Promise<Called>;
  /** The rows of a statement, once there are so many. */
  rows(sql: string, expected?: number): Promise<unknown[][]>;
  restart(): Promise<void>;
  close(): Promise<void>;
}

const answered = z.object({ rows: z.array(z.array(z.unknown())) });

/** @param ingest the section of the configuration. */
export async function openReceiving(ingest: object = {}, workers?: number): Promise<Receiving> {
  const directory = await temporaryDirectory();
  const config = join(directory, 'sightline.config.json');
  await writeFile(config, JSON.stringify({ ingest }));
  const start = (): Promise<RunningGateway> =>
    startGateway(directory, { args: ['--no-demo', '--config', config], ...(workers !== undefined && { workers }) });
  const gateway = await start();
  const key = await createKey(directory, 'Acme');
  const shown = z.object({ token: z.string() });
  const { token } = await sightlineJson(directory, ['ingest', 'show', '--org', 'Acme'], shown);
  let accessToken = await exchange(gateway.url, key);
  const receiving: Receiving = {
    gateway,
    directory,
    token,
    query: (args) => callTool(receiving.gateway.url, accessToken, 'query_otel', args),
    async rows(sql, expected = 1) {
      for (let tries = 0; ; tries += 1) {
        const called = await receiving.query({ sql, max_rows: 10_000 });
        if (called.isError) throw new Error(called.text);
        const { rows } = answered.parse(called.structured);
        if (rows.length >= expected || tries === 100) return rows;
        await delay(100);
      }
    },
    async restart() {
      receiving.gateway = await start();
      accessToken = await exchange(receiving.gateway.url, key);
    },
    async close() {
      await receiving.gateway.stop();
      await removeDirectory(directory);
    },
  };
  return receiving;
}
