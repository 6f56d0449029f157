import { extname } from 'node:path';
import type { ReadConfig } from '../config/load.ts';
import { reloadConfig, type Reload } from '../config/reload.ts';
import type { Config } from '../config/schema.ts';
import type { Logger } from '../../contract/core/index.ts';
import { logLevels } from '../process/logger.ts';
import { checkConfig } from './config.ts';
import type { Settings } from './settings.ts';

/** The config in force: as it was loaded, with what was reloaded since. */
export interface LiveConfig {
  readonly config: Config;
  /** Applies and logs what can change while running. Never rejects; false for an invalid config: nothing is applied. */
  reload(): Promise<boolean>;
  /** Called when `config` has become another. */
  onReload(listener: () => void): void;
}

export function createLiveConfig(settings: Settings, { config, file, empty }: ReadConfig, logger: Logger): LiveConfig {
  let running = config;
  let last: Promise<boolean> = Promise.resolve(true);
  const listeners: (() => void)[] = [];

  async function reload(): Promise<boolean> {
    if (file !== undefined && /^\.[cm]?[jt]s$/.test(extname(file))) {
      logger.error({ file }, 'the configuration is not reloaded: a program is read once; restart');
      return false;
    }
    let wanted: Config;
    try {
      const read = await checkConfig(settings);
      // One that is being written, moved or mounted would otherwise be the defaults, which have no rules.
      if (read.file !== file || (read.empty && !empty)) {
        logger.error({ file }, 'the configuration is not reloaded: its file is gone or empty; all stays as it was');
        return false;
      }
      wanted = read.config;
    } catch (error) {
      logger.error({ error }, 'the configuration is not reloaded, since it is wrong; all stays as it was');
      return false;
    }
    const result = reloadConfig(running, wanted);
    // Logged before a quieter level takes effect, which would drop this line.
    const quieter = logLevels.indexOf(result.config.log.level) > logLevels.indexOf(running.log.level);
    if (quieter) say(result);
    running = result.config;
    for (const listener of listeners) listener();
    if (!quieter) say(result);
    return true;
  }

  function say({ applied, refused }: Reload): void {
    logger.info(
      { applied },
      applied.length > 0 ? 'configuration reloaded' : 'nothing that can be reloaded has changed',
    );
    for (const { key, why } of refused) logger.warn({ key, why }, 'a changed key is not taken');
  }

  return {
    get config() {
      return running;
    },
    // One after another, so that the last one asked for is the one that holds.
    reload: () => (last = last.then(reload)),
    onReload: (listener) => void listeners.push(listener),
  };
}
