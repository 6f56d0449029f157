import { hash } from 'node:crypto';
import type { z } from 'zod';
import { SightlineError, isObject, type JsonObject } from '../contract/core/index.ts';
import { nearestName } from '../contract/core/spelling.ts';
import type { CatalogEntry } from './catalog.ts';
import { quote } from './protocol.ts';
import { isAbsent, widen } from './wide-arguments.ts';

/** The arguments under their own names and in the types of the schema. Throws when one is sent under two names. */
export function readArguments({ aliases, kinds }: CatalogEntry, args: JsonObject): JsonObject {
  return widen(kinds, renameAliases(aliases, args));
}

function renameAliases(aliases: CatalogEntry['aliases'], args: JsonObject): JsonObject {
  if (aliases.size === 0 || !Object.keys(args).some((key) => aliases.has(key))) return args;
  const renamed = new Map<string, unknown>();
  const sent = new Map<string, string>();
  for (const [key, value] of Object.entries(args)) {
    const name = aliases.get(key) ?? key;
    if (isAbsent(value, undefined)) continue;
    const other = sent.get(name);
    if (other !== undefined) {
      const alias = aliases.has(key) ? key : other;
      throw new SightlineError('invalid_argument', `${alias} is another name for ${name}: send one of them.`);
    }
    sent.set(name, key);
    renamed.set(name, value);
  }
  // fromEntries defines own properties, so a key `__proto__` stays a key.
  return Object.fromEntries(renamed);
}

/** Each of them may cost an issue of its own; no call has need of so many. */
const maxValues = 10_000;

/** Checks the arguments against the tool's schema. Throws invalid_argument in words a model can act on. */
export function parseArguments({ tool, kinds }: CatalogEntry, args: JsonObject): unknown {
  const unknown = Object.keys(args).filter((key) => !kinds.has(key));
  // Only where it is told: each call comes by here.
  const valid = () =>
    kinds.size === 0 ? `${tool.name} takes no arguments.` : `Valid arguments: ${[...kinds.keys()].join(', ')}.`;
  if (unknown.length > 0) {
    const named = unknown.slice(0, 5).map(quote).join(', ');
    const near = nearestName(unknown[0] ?? '', kinds.keys());
    const hint = near === undefined ? valid() : `Did you mean ${near}? ${valid()}`;
    throw new SightlineError('invalid_argument', `There is no argument ${named}.`, { hint });
  }
  if (countValues(args, maxValues) > maxValues) {
    throw new SightlineError('invalid_argument', `The arguments hold more than ${maxValues} values.`, {
      hint: valid(),
    });
  }
  const parsed = tool.input.safeParse(args);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 5).map(describe).join('; ');
  throw new SightlineError('invalid_argument', `The arguments do not fit: ${problems}.`, { hint: valid() });
}

/** Values in a value, itself too; stops soon after `enough`. Recursion is bounded by the depth that the body was let in with. */
function countValues(value: unknown, enough: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const inner of Object.values(value)) {
    if (count > enough) break;
    count += countValues(inner, enough - count);
  }
  return count;
}

function describe(issue: z.core.$ZodIssue): string {
  const path = issue.path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '')
    .slice(0, 200);
  const message =
    issue.code === 'invalid_union' && issue.errors.length > 0
      ? issue.errors
          .slice(0, 4)
          .map((branch) => branch.map((inner) => inner.message).join(', '))
          .join(', or ')
      : issue.message;
  return path === '' ? message.slice(0, 500) : `${path}: ${message.slice(0, 500)}`;
}

/** SHA-256 of the arguments with sorted keys: the same call has the same hash, however its JSON was written. */
export function hashArguments(args: JsonObject): string {
  return hash('sha256', canonicalJson(args), 'hex');
}

/** Recursion is bounded by the depth that the body was let in with. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  let members = '';
  for (const key of Object.keys(value).sort()) {
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(value[key])}`;
  }
  return `{${members}}`;
}
