import { readFileSync } from 'node:fs';
import { SightlineError } from '../../contract/core/index.ts';

const reference = /\$\$|\$\{([a-z]+):([^}]*)\}/g;

/**
 * Replaces `${env:NAME}`, `${env:NAME:-default}` and `${file:/path}` in every string of a config; `$$` stands for `$`.
 * Types are never guessed: the schema coerces where it wants a number. What cannot be had stops the boot with the key
 * path and the name.
 */
export function expandConfig(value: unknown, env: NodeJS.ProcessEnv, path: readonly string[] = []): unknown {
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
      throw new SightlineError('config_invalid', `${key}: the file ${argument} cannot be read.`, { cause });
    }
  }
  throw new SightlineError('config_invalid', `${key}: \${${source}:…} is not known.`, {
    hint: 'Known are ${env:NAME}, ${env:NAME:-default} and ${file:/path}; write $$ for a plain $.',
  });
}
