import { createHash, randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { defaultLoadersSync } from 'cosmiconfig';
import { z } from 'zod';
import { createWarehouse } from '../../plugins/telemetry-postgres/support/warehouse.ts';
import { startFront } from './front.ts';
import type { Front } from './front.ts';
import { postgresServer, storeOn } from './stores.ts';
import type { SharedStorage } from './stores.ts';

/**
 * What two gateways have in common that stand for the one of a data directory: their storage in a database server, their
 * telemetry in PostgreSQL, their master key, and the proxy before them.
 */
export interface TwoGateways {
  readonly front: Front;
  /** Of each its own data directory; the first is the one that they stand for. */
  readonly directories: readonly [string, string];
  readonly env: NodeJS.ProcessEnv;
  /** The arguments of a command, with the config file that they name made over to what is shared. */
  configured(args: readonly string[]): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function makeTwoGateways(dataDirectory: string, storage: SharedStorage): Promise<TwoGateways> {
  const [postgres, store] = await Promise.all([postgresServer(), storeOn(storage)]);
  const warehouse = await createWarehouse(postgres.server);
  const front = await startFront();
  const directories = [dataDirectory, `${dataDirectory}-second`] as const;
  const shared = {
    publicUrl: front.url,
    storage: { plugin: 'knex', ...store.process.config },
    telemetry: { plugin: 'postgres', ...warehouse.config },
  };
  return {
    front,
    directories,
    env: { SIGHTLINE_MASTER_KEY: randomBytes(32).toString('base64url') },
    async configured(args) {
      const at = args.indexOf('--config');
      const own = await readConfig(
        at === -1 ? join(dataDirectory, 'sightline.config.json') : (args[at + 1] ?? ''),
        dataDirectory,
      );
      // A test of what is wrong with a file keeps its file.
      if (own === undefined && at !== -1) return args;
      // What a test says of its telemetry or its address is what it is about.
      const text = JSON.stringify({ ...shared, ...own, storage: shared.storage });
      const file = join(dataDirectory, `shared-${createHash('sha256').update(text).digest('hex').slice(0, 12)}.json`);
      await writeFile(file, text);
      return [...(at === -1 ? args : args.toSpliced(at, 2)), '--config', file];
    },
    async close() {
      await front.close();
      await warehouse.cleanup();
      await store.cleanup();
      await postgres.done();
      await rm(directories[1], { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

const sections = ['storage', 'issuer', 'telemetry', 'agent'] as const;
const fileShape = z.record(z.string(), z.unknown());
const pluginShape = z.looseObject({ plugin: z.string() });

/** A config file's content, with paths of plugins that hold in that directory, too. Undefined where there is none to be read. */
async function readConfig(file: string, besides: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const load = extname(file) === '.json' ? defaultLoadersSync['.json'] : defaultLoadersSync['.yaml'];
    const content = { ...fileShape.parse(load(file, await readFile(file, 'utf8'))) };
    for (const name of sections) {
      const { data } = pluginShape.safeParse(content[name]);
      if (data?.plugin.startsWith('.') === true && dirname(file) !== besides) {
        content[name] = { ...data, plugin: resolve(dirname(file), data.plugin) };
      }
    }
    return content;
  } catch {
    return undefined;
  }
}
