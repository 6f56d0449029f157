import { createAlertSources, type AlertSources } from '../../incidents/alerts/sources.ts';
import { openSigningKey } from '../../identity/issue/signing-keys.ts';
import { createApiKeys, type ApiKeys } from '../../identity/verify/api-keys.ts';
import { createIngestTokens, type IngestTokens } from '../../identity/verify/ingest-tokens.ts';
import { createScimTokens, type ScimTokens } from '../../identity/verify/scim-tokens.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Host, Logger, Vault } from '../../contract/core/index.ts';
import type { MigrationPlan, MigrationReport, Storage } from '../../contract/storage/index.ts';
import { readHolder, type Holder } from '../process/exclusive.ts';
import { createLogger } from '../process/logger.ts';
import { createAlertInputs, loadAlertInputs, loadPlugin } from '../process/registry.ts';
import { createVault, loadMasterKeys } from '../process/vault.ts';
import { createPeople } from '../../identity/people/create-people.ts';
import { createOrganizations, type Organizations } from '../../identity/people/organizations.ts';
import type { People } from '../../identity/people/people.ts';
import { prepareDirectory } from './data-directory.ts';
import { createLiveConfig, type LiveConfig } from './reload.ts';
import { loadSettings, type Settings } from './settings.ts';
import { createWebhooks, type Webhooks } from '../../incidents/webhooks/webhooks.ts';
import { deriveUrls } from './urls.ts';

/** Config, keys and storage, before anything is started: what the gateway and the commands have in common. */
export interface Foundation extends LoadedConfig, LiveConfig {
  readonly dataDirectory: string;
  readonly logger: Logger;
  readonly vault: Vault;
  readonly now: () => Date;
  /** What every plugin is given, once the port is known. */
  host(port: number, label: string): Host;
}

/** `logged` stands on every line of the log; `own` replaces that on standard error, and with it `log.level`. */
export async function layFoundation(settings: Settings, logged: object = {}, own?: Logger): Promise<Foundation> {
  const loaded = await loadSettings(settings);
  const { dataDirectory, log } = loaded.config;
  prepareDirectory(dataDirectory);
  const leveled = createLogger(log);
  const logger = (own ?? leveled).child(logged);
  const live = createLiveConfig(settings, loaded, logger);
  live.onReload(() => leveled.setLevel(live.config.log.level));
  const vault = createVault(await loadMasterKeys(dataDirectory, process.env['SIGHTLINE_MASTER_KEY']));
  const now = (): Date => new Date();
  return {
    file: loaded.file,
    get config() {
      return live.config;
    },
    reload: () => live.reload(),
    onReload: (listener) => live.onReload(listener),
    dataDirectory,
    logger,
    vault,
    now,
    host(port, label) {
      const { publicUrl, authUrl } = deriveUrls(loaded.config, port);
      return { logger: logger.child({ part: label }), now, publicUrl, authUrl, dataDirectory, vault };
    },
  };
}

/** A workspace opened by a command, beside a running gateway or without one. */
export interface OpenWorkspace extends Foundation {
  readonly storage: Storage;
  readonly migrations: MigrationReport;
  readonly keys: ApiKeys;
  readonly ingestTokens: IngestTokens;
  readonly scimTokens: ScimTokens;
  readonly people: People;
  readonly organizations: Organizations;
  readonly webhooks: Webhooks;
  /** Loads the alert plugins, which few commands need. */
  alertSources(): Promise<AlertSources>;
  /** The gateway that holds this data directory, if it answers. */
  runningGateway(): Promise<Holder | undefined>;
  close(): Promise<void>;
}

async function createStorage(foundation: Foundation): Promise<Storage> {
  const { config, file } = foundation;
  const loaded = await loadPlugin('storage', config.storage, file);
  return loaded.create(foundation.host(config.listen.port, loaded.label));
}

/** What a migration of the storage would do; nothing is changed. */
export function planMigration(settings: Settings): Promise<MigrationPlan> {
  return onStorage(settings, (storage) => storage.planMigration());
}

/** Without serving. Nothing is sealed, so any master key will do. */
export function migrateStorage(settings: Settings): Promise<MigrationReport> {
  return onStorage(settings, (storage) => storage.migrate());
}

async function onStorage<Done>(settings: Settings, act: (storage: Storage) => Promise<Done>): Promise<Done> {
  const storage = await createStorage(await layFoundation(settings));
  try {
    return await act(storage);
  } finally {
    await storage.stop();
  }
}

/** Throws `config_invalid` under a master key that does not open the signing keys: what it sealed would be no seal. */
export async function openWorkspace(settings: Settings): Promise<OpenWorkspace> {
  const foundation = await layFoundation(settings);
  const { now, vault, dataDirectory, logger, config } = foundation;
  const storage = await createStorage(foundation);
  const migrations = await opened(storage, vault);
  const ingestTokens = createIngestTokens({ storage, vault });
  const runningGateway = async (): Promise<Holder | undefined> => {
    const holder = readHolder(dataDirectory);
    return holder && (await answers(holder.url)) ? holder : undefined;
  };
  return {
    ...foundation,
    storage,
    migrations,
    keys: createApiKeys({ storage, now }),
    ingestTokens,
    scimTokens: createScimTokens({ storage, logger, now }),
    people: createPeople({ storage, logger, now }),
    organizations: createOrganizations({
      storage,
      ingestTokens,
      now,
      graceDays: () => config.retention.deletedOrganizationDays,
    }),
    webhooks: createWebhooks({ storage, vault, now }),
    async alertSources() {
      const host = (label: string): Host => foundation.host(config.listen.port, label);
      const inputs = createAlertInputs(await loadAlertInputs(foundation.config.alerts, foundation.file), host);
      const running = config.publicUrl === undefined ? await runningGateway() : undefined;
      return createAlertSources({ storage, vault, inputs, publicUrl: running?.url ?? host('cli').publicUrl, now });
    },
    runningGateway,
    close: () => storage.stop(),
  };
}

/** What its start had to migrate. */
async function opened(storage: Storage, vault: Vault): Promise<MigrationReport> {
  try {
    const migrations = await storage.migrate();
    await storage.start(AbortSignal.timeout(30_000));
    for (const record of await storage.directory.signingKeys()) await openSigningKey(record, vault);
    return migrations;
  } catch (error) {
    await storage.stop();
    throw error;
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
