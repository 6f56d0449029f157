import { statSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { cosmiconfig, defaultLoaders, type Loader } from 'cosmiconfig';
import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';
import { problemsOf } from './problems.ts';
import { configSchema, type Config, type ConfigInput } from './schema.ts';

const reference = /\$\$|\$\{([a-z]+):([^}]*)\}/g;

/**
 * Replaces `${env:NAME}`, `${env:NAME:-default}`, `${file:/path}` and `$$` in every string. Types are never guessed:
 * the schema coerces. Throws `config_invalid` with the key path.
 */
function expandConfig(value: unknown, env: NodeJS.ProcessEnv, path: readonly string[] = []): unknown {
  if (typeof value === 'string')
    return value.replace(reference, (whole, source, argument) => {
      if (whole === '$$') return '$';
      return resolveReference(String(source), String(argument), env, path);
    });
  if (Array.isArray(value)) return value.map((item, index) => expandConfig(item, env, [...path, String(index)]));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, expandConfig(item, env, [...path, key])]),
    );
  }
  return value;
}

function resolveReference(source: string, argument: string, env: NodeJS.ProcessEnv, path: readonly string[]): string {
  const key = path.join('.');
  if (source === 'env') {
    const split = argument.indexOf(':-');
    const name = split === -1 ? argument : argument.slice(0, split);
    const found = env[name];
    if (found !== undefined && found !== '') return found;
    if (split !== -1) return argument.slice(split + 2);
    throw new SightlineError('config_invalid', `${key}: the environment variable ${name} is not set.`, {
      hint: `Set ${name}, or write \${env:${name}:-default}.`,
    });
  }
  if (source === 'file') {
    try {
      return readFileSync(argument, 'utf8').replace(/\r?\n$/, '');
    } catch (cause) {
      throw new SightlineError('config_invalid', `${key}: the file ${argument} cannot be read.`, {
        cause,
        hint: 'Write its absolute path, and let the user that the gateway runs as read it.',
      });
    }
  }
  throw new SightlineError('config_invalid', `${key}: \${${source}:…} is not known.`, {
    hint: 'Known are ${env:NAME}, ${env:NAME:-default} and ${file:/path}; write $$ for a plain $.',
  });
}

export interface LoadedConfig {
  readonly config: Config;
  /** Absolute; undefined when the gateway runs on its defaults. */
  readonly file: string | undefined;
}

export interface ReadConfig extends LoadedConfig {
  /** The file says nothing: all is as by default. */
  readonly empty: boolean;
}

/** What comes from the command line or the environment and beats the file. */
export interface Overrides {
  readonly dataDirectory?: string;
  readonly port?: number;
}

const searchPlaces = ['yaml', 'yml', 'json', 'ts', 'js'].map((extension) => `sightline.config.${extension}`);

/** Finds the config from `cwd` up (or reads `file`), expands references and validates it. Errors name every bad key path. */
export async function loadConfig(options: {
  /** Its path, or what would stand in it. */
  file?: string | ConfigInput | undefined;
  cwd: string;
  env: NodeJS.ProcessEnv;
  overrides: Overrides;
}): Promise<ReadConfig> {
  const { file, raw, empty } = await read(options.file, options.cwd);
  const parsed = configSchema.safeParse(expandConfig(raw, options.env));
  if (!parsed.success) {
    throw new SightlineError(
      'config_invalid',
      `${file ?? 'The config'} is not valid:\n${problemsOf(parsed.error, configSchema).join('\n')}`,
    );
  }
  const { dataDirectory, port } = options.overrides;
  const base = dataDirectory === undefined && file !== undefined ? dirname(file) : options.cwd;
  return {
    file,
    empty,
    config: {
      ...parsed.data,
      dataDirectory: resolve(base, dataDirectory ?? parsed.data.dataDirectory),
      listen: { ...parsed.data.listen, ...(port === undefined ? {} : { port }) },
    },
  };
}

/**
 * Whether a config, which can name code to run, may be another user's. The search looks into every folder above the
 * working directory, and some of them, such as /tmp, are open to all.
 * @param user of this process; undefined where the system has no such numbers.
 */
export function isStrangers({ uid, mode }: { uid: number; mode: number }, user: number | undefined): boolean {
  if (user === undefined) return false;
  return (uid !== user && uid !== 0) || (mode & 0o002) !== 0;
}

/** For what a search finds: a file in the working directory itself is meant, one above it must be ours. */
function cautious(load: Loader, cwd: string): Loader {
  return (path, content) => {
    if (dirname(path) !== resolve(cwd) && isStrangers(statSync(path), process.getuid?.())) {
      throw new Error(`${path} lies above the working directory and others may write it; name it with --config`);
    }
    return load(path, content);
  };
}

async function read(
  file: string | ConfigInput | undefined,
  cwd: string,
): Promise<Pick<ReadConfig, 'file' | 'empty'> & { raw: unknown }> {
  if (typeof file === 'object') return { file: undefined, empty: false, raw: file };
  const named = file !== undefined;
  const explorer = cosmiconfig('sightline', {
    searchPlaces,
    searchStrategy: 'project',
    mergeImportArrays: true,
    loaders: Object.fromEntries(
      Object.entries(defaultLoaders).map(([kind, load]) => [kind, named ? load : cautious(load, cwd)]),
    ),
  });
  try {
    const found = file === undefined ? await explorer.search(cwd) : await explorer.load(resolve(cwd, file));
    if (found?.isEmpty && /\.[jt]s$/.test(found.filepath))
      throw new Error('it exports no default. Write export default { … }');
    if (!found || found.isEmpty) return { file: found?.filepath, empty: true, raw: {} };
    return { file: found.filepath, empty: false, raw: found.config };
  } catch (cause) {
    throw unreadable(file ?? 'file', cause);
  }
}

const yamlError = z.object({
  reason: z.string(),
  mark: z.object({ line: z.number(), column: z.number() }).optional(),
});

/** Parsers quote the file in their errors, and a config holds secrets: what they say goes no further than the place. */
function unreadable(file: string, cause: unknown): SightlineError {
  const refused = (what: string, hint?: string, why?: unknown): SightlineError =>
    new SightlineError('config_invalid', `The config ${file} cannot be read${what}`, {
      cause: why,
      ...(hint !== undefined && { hint }),
    });
  const inYaml = yamlError.safeParse(cause).data;
  if (inYaml !== undefined) {
    const { reason, mark } = inYaml;
    const at = mark === undefined ? '' : `, line ${mark.line + 1}, column ${mark.column + 1}`;
    // What it names of the file may be a password that begins with a character of YAML's own.
    return refused(`${at}: ${reason.replace(/ *("|!<).*$/s, '')}.`, yamlHint(reason));
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  if (message.startsWith('JSON Error')) {
    const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(message) ?? [];
    const what = /\n(.+?)(?= in JSON|, \.{0,3}"|$)/.exec(message)?.[1] ?? 'it is not JSON';
    const at = line === undefined ? '' : `, line ${line}, column ${column}`;
    return refused(
      `${at}: ${what}.`,
      'In JSON every key and every text stands in double quotes, and no comma before } or ].',
    );
  }
  return refused(`: ${message.split('\n', 1)[0]}`, undefined, cause);
}

function yamlHint(reason: string): string {
  if (reason.includes('single document')) return 'Remove the line ---, or all but one of the parts that it separates.';
  if (reason.includes('tab')) return 'Indent with spaces.';
  if (reason.includes('duplicated')) return 'Write the section once, with all of its keys.';
  if (/alias|tag|anchor/.test(reason)) return 'Put a text that begins with *, & or ! into quotes.';
  return 'The keys of a section stand in one column, each with ": " after it; brackets and quotes are closed; a text with a special character stands in quotes.';
}
