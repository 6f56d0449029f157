import { z } from 'zod';
import { trustAuthorities, useProxy } from '../process/authorities.ts';
import { loadConfig, type ReadConfig } from '../config/load.ts';
import type { ConfigInput } from '../config/schema.ts';
import { SightlineError } from '../../contract/core/index.ts';

/** What every command takes; the flag beats the environment, which beats the config file. */
export interface Settings {
  /** `--data`, SIGHTLINE_DATA: the data directory, relative to the working directory. */
  readonly data?: string | undefined;
  /** `--port`, SIGHTLINE_PORT. 0 takes a free one. */
  readonly port?: number | undefined;
  /** `--config`, SIGHTLINE_CONFIG: the path of the config file. A program may give what would stand in it. */
  readonly config?: string | ConfigInput | undefined;
}

const environment = z.object({
  SIGHTLINE_DATA: z.string().min(1).optional(),
  SIGHTLINE_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  SIGHTLINE_CONFIG: z.string().min(1).optional(),
});

export function resolveSettings(flags: Settings, env: NodeJS.ProcessEnv = process.env): Settings {
  const parsed = environment.safeParse(env);
  if (!parsed.success) {
    const names = [...new Set(parsed.error.issues.map(({ path }) => path.join('.')))].join(', ');
    throw new SightlineError('config_invalid', `The environment variable ${names} is not valid.`, {
      hint: 'SIGHTLINE_PORT is a number from 0 to 65535; SIGHTLINE_DATA and SIGHTLINE_CONFIG are paths.',
    });
  }
  const { SIGHTLINE_DATA, SIGHTLINE_PORT, SIGHTLINE_CONFIG } = parsed.data;
  return {
    data: flags.data ?? SIGHTLINE_DATA,
    port: flags.port ?? SIGHTLINE_PORT,
    config: flags.config ?? SIGHTLINE_CONFIG,
  };
}

/** The config file that the settings name or lead to, with what they beat in it. The process takes its `network`. */
export async function loadSettings({ config, data, port }: Settings): Promise<ReadConfig> {
  const read = await loadConfig({
    file: config,
    cwd: process.cwd(),
    env: process.env,
    overrides: {
      ...(data === undefined ? {} : { dataDirectory: data }),
      ...(port === undefined ? {} : { port }),
    },
  });
  trustAuthorities(read.config.network.ca, read.file);
  useProxy(read.config.network.proxy, process.env);
  return read;
}
