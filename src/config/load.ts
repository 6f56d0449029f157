import { dirname, resolve } from 'node:path';
import { cosmiconfig } from 'cosmiconfig';
import { z } from 'zod';
import { SightlineError } from '../contract/index.ts';
import { expandConfig } from './expand.ts';
import { configSchema } from './schema.ts';
import type { Config } from './schema.ts';

export interface LoadedConfig {
  readonly config: Config;
  /** Absolute; undefined when the gateway runs on its defaults. */
  readonly file: string | undefined;
}

/** What comes from the command line or the environment and beats the file. */
export interface Overrides {
  readonly dataDirectory?: string;
  readonly port?: number;
}

const searchPlaces = ['yaml', 'yml', 'json', 'ts', 'js'].map((extension) => `sightline.config.${extension}`);

/** Finds the config from `cwd` up (or reads `file`), expands references and validates it. Errors name every bad key path. */
export async function loadConfig(options: {
  file?: string | undefined;
  cwd: string;
  env: NodeJS.ProcessEnv;
  overrides: Overrides;
}): Promise<LoadedConfig> {
  const { file, raw } = await read(options.file, options.cwd);
  const parsed = configSchema.safeParse(expandConfig(raw, options.env));
  if (!parsed.success) {
    throw new SightlineError(
      'config_invalid',
      `${file ?? 'The config'} is not valid:\n${z.prettifyError(parsed.error)}`,
    );
  }
  const { dataDirectory, port } = options.overrides;
  const base = dataDirectory === undefined && file !== undefined ? dirname(file) : options.cwd;
  return {
    file,
    config: {
      ...parsed.data,
      dataDirectory: resolve(base, dataDirectory ?? parsed.data.dataDirectory),
      listen: { ...parsed.data.listen, ...(port === undefined ? {} : { port }) },
    },
  };
}

async function read(file: string | undefined, cwd: string): Promise<{ file: string | undefined; raw: unknown }> {
  const explorer = cosmiconfig('sightline', { searchPlaces, searchStrategy: 'project', mergeImportArrays: true });
  try {
    const found = file === undefined ? await explorer.search(cwd) : await explorer.load(resolve(cwd, file));
    if (!found || found.isEmpty) return { file: found?.filepath, raw: {} };
    return { file: found.filepath, raw: found.config };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause);
    throw new SightlineError('config_invalid', `The config ${file ?? 'file'} cannot be read: ${message}`, { cause });
  }
}
