import { hash } from 'node:crypto';
import type { z } from 'zod';
import { SightlineError, isObject, type JsonObject } from '../contract/core/index.ts';
import type { CatalogEntry } from './catalog.ts';
import { quote } from './protocol.ts';

/** The arguments under their own names. Throws when one is sent under both its names. */
export function renameAliases({ aliases }: CatalogEntry, args: JsonObject): JsonObject {
  if (aliases.size === 0) return args;
  const keys = Object.keys(args);
  if (!keys.some((key) => aliases.has(key))) return args;
  for (const key of keys) {
    const target = aliases.get(key);
    if (target !== undefined && Object.hasOwn(args, target)) {
      throw new SightlineError('invalid_argument', `${key} is another name for ${target}: send one of them.`);
    }
  }
  // fromEntries defines own properties, so a key `__proto__` stays a key.
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [aliases.get(key) ?? key, value]));
}

/** Each of them may cost an issue of its own; no call has need of so many. */
const maxValues = 10_000;

/** Checks the arguments against the tool's schema. Throws invalid_argument in words a model can act on. */
export function parseArguments({ tool, argumentNames }: CatalogEntry, args: JsonObject): unknown {
  const unknown = Object.keys(args).filter((key) => !argumentNames.has(key));
  // Only where it is told: each call comes by here.
  const valid = () =>
    argumentNames.size === 0
      ? `${tool.name} takes no arguments.`
      : `Valid arguments: ${[...argumentNames].join(', ')}.`;
  if (unknown.length > 0) {
    const named = unknown.slice(0, 5).map(quote).join(', ');
    throw new SightlineError('invalid_argument', `There is no argument ${named}.`, { hint: valid() });
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
