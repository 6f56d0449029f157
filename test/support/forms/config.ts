import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { defaultLoadersSync } from 'cosmiconfig';
import { z } from 'zod';

type Content = Readonly<Record<string, unknown>>;

/**
 * The arguments of a command run in `directory`, with the config file that they name, or that lies there, made over to what
 * is shared.
 */
export function withShared(
  args: readonly string[],
  directory: string,
  shared: Content & { readonly storage: unknown },
): readonly string[] {
  const at = args.indexOf('--config');
  const own = readConfig(
    at === -1 ? join(directory, 'sightline.config.json') : resolve(directory, args[at + 1] ?? ''),
    directory,
  );
  // A test of what is wrong with a file keeps its file.
  if (own === undefined && at !== -1) return args;
  // What a test says of its telemetry or its address is what it is about.
  const text = JSON.stringify({ ...shared, ...own, storage: shared.storage });
  const file = join(directory, `shared-${createHash('sha256').update(text).digest('hex').slice(0, 12)}.json`);
  writeFileSync(file, text);
  return [...(at === -1 ? args : args.toSpliced(at, 2)), '--config', file];
}

const sections = ['storage', 'issuer', 'telemetry', 'agent'] as const;
const fileShape = z.record(z.string(), z.unknown());
const pluginShape = z.looseObject({ plugin: z.string() });

/** A config file's content, with paths of plugins that hold in that directory, too. Undefined where there is none to be read. */
function readConfig(file: string, besides: string): Content | undefined {
  try {
    const load = extname(file) === '.json' ? defaultLoadersSync['.json'] : defaultLoadersSync['.yaml'];
    const content = { ...fileShape.parse(load(file, readFileSync(file, 'utf8'))) };
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
