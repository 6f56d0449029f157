import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import { agentQuery } from '../../gateway/wiring/agent-query.ts';
import { telemetryHost } from '../../gateway/wiring/telemetry-host.ts';
import { SightlineError, type Host, type Logger } from '../../contract/core/index.ts';
import type { Agent } from '../../contract/agent/index.ts';
import type { Telemetry } from '../../contract/telemetry/index.ts';
import { loadPlugin } from '../../gateway/process/registry.ts';
import { createQueryPipeline } from '../../telemetry/query/pipeline.ts';

/** A folder in the machine's temporary one for each set of data, kept for the next run; an incomplete one is rebuilt. */
interface Cache {
  readonly directory: string;
  /** What was kept with the data, if they are whole. */
  read<Kept>(shape: z.ZodType<Kept>): Kept | undefined;
  write(kept: unknown): void;
}

export function openCache(key: readonly string[]): Cache {
  const parent = join(tmpdir(), `sightline-eval-${userInfo().uid}`);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const found = lstatSync(parent);
  // Anybody can make a folder of that name there first.
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw new SightlineError('unavailable', `${parent} is not a folder of this user.`);
  }
  const name = createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 12);
  const directory = join(parent, name);
  const marker = join(directory, 'whole.json');
  if (!existsSync(marker)) rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return {
    directory,
    read(shape) {
      if (!existsSync(marker)) return undefined;
      const parsed = shape.safeParse(JSON.parse(readFileSync(marker, 'utf8')));
      return parsed.success ? parsed.data : undefined;
    },
    write: (kept) => writeFileSync(marker, JSON.stringify(kept)),
  };
}

/** The parts of a gateway that an investigation needs, on a folder of their own: no storage, no network. */
export interface Laboratory {
  readonly telemetry: Telemetry;
  readonly agent: Agent;
  close(): Promise<void>;
}

const nothing = (): void => {};
const silent: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silent };

/** Opens the telemetry plugin and the playbook on `directory`. */
export async function openLaboratory(directory: string): Promise<Laboratory> {
  const host: Host = {
    logger: silent,
    now: () => new Date(),
    publicUrl: 'http://127.0.0.1',
    authUrl: 'http://127.0.0.1',
    dataDirectory: directory,
    vault: { seal: noSecrets, open: noSecrets, derive: noSecrets, sign: noSecrets, verifies: noSecrets },
  };
  const duckdb = await loadPlugin('telemetry', { plugin: 'duckdb' });
  const telemetry = duckdb.create(telemetryHost(host, { findOrganization: async () => undefined }));
  await telemetry.start(AbortSignal.timeout(30_000));
  const pipeline = createQueryPipeline({ telemetry, logger: silent, now: host.now });
  const playbook = await loadPlugin('agent', { plugin: 'playbook' });
  const agent = playbook.create({ ...host, dialect: telemetry.dialect, query: agentQuery(pipeline) });
  await agent.start(AbortSignal.timeout(30_000));
  return {
    telemetry,
    agent,
    async close() {
      await agent.stop();
      await telemetry.stop();
    },
  };
}

function noSecrets(): never {
  throw new SightlineError('internal', 'Nothing is sealed here.');
}
