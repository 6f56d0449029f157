import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId, type OrganizationId } from '../../../src/contract/core/index.ts';
import { type Directory } from '../../../src/contract/storage/index.ts';
import { type Telemetry } from '../../../src/contract/telemetry/index.ts';
import { testHost } from '../../../test/contract/host.ts';
import { telemetryHost } from '../../../src/gateway/wiring/telemetry-host.ts';
import { federatedCredentials } from '../../../test/support/bigquery/credentials.ts';
import { collectorTables } from '../../../test/support/bigquery/layouts.ts';
import { BigqueryServer } from '../../../test/support/bigquery/server.ts';
import plugin from '../index.ts';

export const acme: OrganizationId = newId('org');
export const globex: OrganizationId = newId('org');

const names = new Map([
  [acme, 'acme'],
  [globex, 'globex'],
]);

const directory: Pick<Directory, 'findOrganization'> = {
  findOrganization: async (wanted) => {
    const found = [...names].find(([id, name]) => id === wanted || name === wanted);
    return found && { id: found[0], name: found[1], createdAt: new Date(0) };
  },
};

/** What nothing else is said of: the Collector's tables, an organization a value of a column. */
export const usual = {
  projectId: 'acme-observability',
  location: 'EU',
  mapping: { preset: 'otel-collector', names: { dataset: 'acme-observability.otel' } },
  tenancy: { boundary: { mode: 'column', column: 'tenant_id' } },
  isolation: 'degraded',
} as const;

/** The plugin with a host of its own, not started. */
export async function createOn(config: object): Promise<{ telemetry: Telemetry; release(): Promise<void> }> {
  const parsed = plugin.configSchema.parse({ ...usual, ...config });
  const home = await mkdtemp(join(tmpdir(), 'sl-bigquery-'));
  const release = () => rm(home, { recursive: true, force: true });
  try {
    return { telemetry: plugin.create(parsed, telemetryHost(testHost(home), directory)), release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Over the usual; a function is given a credential file. */
export type HarnessConfig = object | ((keyFilename: string) => object);

/** The plugin over a stand-in that has the Collector's tables. */
export class Harness {
  readonly server: BigqueryServer;
  readonly telemetry: Telemetry;
  readonly #release: () => Promise<void>;

  private constructor(server: BigqueryServer, telemetry: Telemetry, release: () => Promise<void>) {
    this.server = server;
    this.telemetry = telemetry;
    this.#release = release;
  }

  /** Not started yet. A shared stand-in is left running. */
  static async create(config: HarnessConfig = {}, shared?: BigqueryServer): Promise<Harness> {
    const server = shared ?? (await BigqueryServer.start());
    for (const [name, table] of Object.entries(collectorTables)) {
      server.tables.set(`acme-observability.otel.${name}`, table);
    }
    const credentials = await federatedCredentials(server.endpoint);
    // As a machine of one's own has them: application default credentials.
    process.env['GOOGLE_APPLICATION_CREDENTIALS'] = credentials.keyFilename;
    const end = async () => {
      if (shared === undefined) await server.stop();
      await credentials.remove();
    };
    try {
      const { telemetry, release } = await createOn({
        ...usual,
        apiEndpoint: server.endpoint,
        ...(typeof config === 'function' ? config(credentials.keyFilename) : config),
      });
      return new Harness(server, telemetry, async () => {
        await end();
        await release();
      });
    } catch (error) {
      await end();
      throw error;
    }
  }

  static async start(config: HarnessConfig = {}): Promise<Harness> {
    const harness = await Harness.create(config);
    try {
      await harness.telemetry.start(AbortSignal.timeout(10_000));
    } catch (error) {
      await harness.stop();
      throw error;
    }
    return harness;
  }

  async stop(): Promise<void> {
    await this.telemetry.stop();
    await this.#release();
  }
}
