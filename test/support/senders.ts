import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { callTool } from './call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from './gateway.ts';

/** A gateway for senders, and one organization in it. */
export interface Receiving {
  readonly gateway: RunningGateway;
  readonly directory: string;
  /** The ingest token. */
  readonly token: string;
  /** The rows of a statement, once there are so many. */
  rows(sql: string, expected?: number): Promise<unknown[][]>;
  close(): Promise<void>;
}

const answered = z.object({ rows: z.array(z.array(z.unknown())) });

/** @param ingest the section of the configuration. */
export async function openReceiving(ingest: object = {}): Promise<Receiving> {
  const directory = await temporaryDirectory();
  const config = join(directory, 'sightline.config.json');
  await writeFile(config, JSON.stringify({ ingest }));
  const args = ['--no-demo', '--config', config];
  const gateway = await startGateway(directory, { args });
  const key = await createKey(directory, 'Acme');
  const shown = z.object({ token: z.string() });
  const { token } = await sightlineJson(directory, ['ingest', 'show', '--org', 'Acme'], shown);
  const accessToken = await exchange(gateway.url, key);
  return {
    gateway,
    directory,
    token,
    async rows(sql, expected = 1) {
      for (let tries = 0; ; tries += 1) {
        const called = await callTool(gateway.url, accessToken, 'query_otel', { sql });
        if (called.isError) throw new Error(called.text);
        const { rows } = answered.parse(called.structured);
        if (rows.length >= expected || tries === 100) return rows;
        await delay(100);
      }
    },
    async close() {
      await gateway.stop();
      await removeDirectory(directory);
    },
  };
}
