import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isObject, SightlineError, type JsonObject, errorCode, parseJson } from '../contract/core/index.ts';

/**
 * Adds `document` to the file, in its style; false where all was there. `invalid_argument` for no plain JSON. A person's
 * own file, under `~/`, has no version control: what it was is kept as `.bak` beside it.
 */
export function mergeIntoFile(named: string, document: JsonObject): boolean {
  const own = named.startsWith('~/');
  const path = own ? join(homedir(), named.slice(2)) : named;
  const before = readOrNothing(path);
  const existing = before === undefined || before.trim() === '' ? {} : parse(path, before);
  const merged = merge(path, existing, document);
  if (isDeepStrictEqual(merged, existing)) return false;
  mkdirSync(dirname(path), { recursive: true });
  if (own && before !== undefined) copyFileSync(path, `${path}.bak`);
  writeFileSync(path, format(merged, before ?? ''));
  return true;
}

/** Objects are joined, so that other servers stay; a list's things are known by their `id`. */
function merge(path: string, existing: JsonObject, added: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...existing };
  for (const [key, value] of Object.entries(added)) {
    const there = existing[key];
    if (there === undefined) result[key] = value;
    else if (isObject(there) && isObject(value)) result[key] = { ...there, ...value };
    else if (Array.isArray(there) && Array.isArray(value)) result[key] = mergeLists(there, value);
    else throw untouched(path, `"${key}" in ${path} is not what the client expects there`);
  }
  return result;
}

function mergeLists(existing: readonly unknown[], added: readonly unknown[]): readonly unknown[] {
  const id = (value: unknown): unknown => (isObject(value) ? value['id'] : undefined);
  const ids = new Set(added.map(id));
  const at = existing.findIndex((value) => ids.has(id(value)));
  const others = existing.filter((value) => !ids.has(id(value)));
  return at === -1 ? [...others, ...added] : others.toSpliced(at, 0, ...added);
}

function format(value: JsonObject, before: string): string {
  const indentation = /^[{[]\r?\n([ \t]+)/.exec(before.trimStart())?.[1] ?? '  ';
  const text = `${JSON.stringify(value, undefined, indentation)}\n`;
  return before.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
}

function parse(path: string, text: string): JsonObject {
  const value = parseJson(text);
  if (isObject(value)) return value;
  // Comments, mostly: some editors allow them, and rewriting the file would lose them.
  throw untouched(path, `${path} is no plain JSON object`);
}

function untouched(path: string, why: string): SightlineError {
  return new SightlineError('invalid_argument', `${why}, so the file is left as it is.`, {
    hint: `It may have comments, which would be lost. Without --write the command prints what to add to ${path}.`,
  });
}

function readOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return undefined;
    throw new SightlineError('invalid_argument', `The file ${path} cannot be read.`, { cause });
  }
}
