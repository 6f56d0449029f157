import { hash } from 'node:crypto';
import { SightlineError, isObject, issueText, issueWords, type JsonObject, type Tool } from '../contract/core/index.ts';
import { nearestName } from '../contract/core/spelling.ts';
import { quote } from './protocol.ts';

/** A tool, and what its arguments are called. */
export interface ToolArguments {
  readonly tool: Tool;
  /** By the name a caller may send, aliases aside. */
  readonly kinds: ReadonlyMap<string, ArgumentKind>;
  readonly aliases: ReadonlyMap<string, string>;
}

/** The arguments under their own names and in the types of the schema. Throws when one is sent under two names. */
export function readArguments({ aliases, kinds }: ToolArguments, args: JsonObject): JsonObject {
  return widen(kinds, renameAliases(aliases, args));
}

function renameAliases(aliases: ToolArguments['aliases'], args: JsonObject): JsonObject {
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

/** What an argument is, as far as it decides how another spelling of it is read. */
export interface ArgumentKind {
  readonly type: unknown;
  readonly required: boolean;
  /** Of a number. */
  readonly minimum: number;
}

/** Clients and automation tools add these to a call by themselves, so no model could leave them out. */
const addedByClients: ReadonlySet<string> = new Set([
  'toolCallId',
  'sessionId',
  'action',
  'chatInput',
  'task_progress',
  'random_string',
]);

/** The kinds of a tool's arguments, by name, from its input schema. */
export function argumentKinds({ properties, required }: JsonObject): ReadonlyMap<string, ArgumentKind> {
  const kinds = new Map<string, ArgumentKind>();
  const demanded: readonly unknown[] = Array.isArray(required) ? required : [];
  for (const [name, schema] of Object.entries(isObject(properties) ? properties : {})) {
    if (!isObject(schema)) continue;
    const { type, minimum } = schema;
    const least = typeof minimum === 'number' ? minimum : Number.NEGATIVE_INFINITY;
    kinds.set(name, { type, required: demanded.includes(name), minimum: least });
  }
  return kinds;
}

/** Whether a client sends this in place of nothing: `null` and "", and 0 where no such number is valid. */
function isAbsent(value: unknown, kind: ArgumentKind | undefined): boolean {
  if (kind?.required === true) return false;
  if (value === 0) return kind !== undefined && (kind.minimum > 0 || kind.type === 'string');
  return value === null || value === '';
}

/**
 * The arguments as the schema has them, where a model or its client spelt them otherwise: without what is absent and what the
 * client added, one value as a list of it, a list as JSON text, numbers and booleans as text and numbers for text.
 */
export function widen(kinds: ReadonlyMap<string, ArgumentKind>, args: JsonObject): JsonObject {
  // Nearly always all is well, and then nothing is made.
  if (Object.keys(args).every((name) => fits(name, args[name], kinds.get(name)))) return args;
  const read: [string, unknown][] = [];
  for (const [name, value] of Object.entries(args)) {
    const kind = kinds.get(name);
    if (isAbsent(value, kind) || (kind === undefined && isAddedByClient(name))) continue;
    const meant = kind === undefined ? value : readAs(value, kind);
    if (!isAbsent(meant, kind)) read.push([name, meant]);
  }
  // fromEntries defines own properties, so a key `__proto__` stays a key.
  return Object.fromEntries(read);
}

function fits(name: string, value: unknown, kind: ArgumentKind | undefined): boolean {
  if (kind === undefined) return !isAbsent(value, kind) && !isAddedByClient(name);
  if (isAbsent(value, kind)) return false;
  switch (kind.type) {
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return typeof value === 'number';
    default:
      return typeof value === kind.type;
  }
}

function isAddedByClient(name: string): boolean {
  return addedByClients.has(name) || name.startsWith('_');
}

/** Another type's spelling of a value of this kind; the value itself where it is none, which the schema then refuses. */
function readAs(value: unknown, { type }: ArgumentKind): unknown {
  if (type === 'array') return Array.isArray(value) ? value : listOf(value);
  if (type === 'string') return typeof value === 'number' ? String(value) : value;
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (type === 'boolean') return /^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : value;
  if (type === 'integer' || type === 'number') return /^[+-]?\d{1,16}(\.\d{1,16})?$/.test(text) ? Number(text) : value;
  return value;
}

function listOf(value: unknown): unknown {
  if (typeof value !== 'string' || !value.trim().startsWith('[')) return [value];
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) ? list : [value];
  } catch {
    return [value];
  }
}

/** Each of them may cost an issue of its own; no call has need of so many. */
const maxValues = 10_000;

/** Checks the arguments against the tool's schema. Throws invalid_argument in words a model can act on. */
export function parseArguments({ tool, kinds }: ToolArguments, args: JsonObject): unknown {
  const unknown = Object.keys(args).filter((key) => !kinds.has(key));
  // Only where it is told: each call comes by here.
  const valid = () =>
    kinds.size === 0 ? `${tool.name} takes no arguments.` : `Valid arguments: ${[...kinds.keys()].join(', ')}.`;
  if (unknown.length > 0) {
    const named = unknown.slice(0, 5);
    const near = named.flatMap((name) => nearestName(name, kinds.keys()) ?? []);
    const hint = near.length === 0 ? valid() : `Did you mean ${[...new Set(near)].join(' and ')}? ${valid()}`;
    throw new SightlineError('invalid_argument', `There is no argument ${named.map(quote).join(', ')}.`, { hint });
  }
  if (countValues(args, maxValues) > maxValues) {
    throw new SightlineError('invalid_argument', `The arguments hold more than ${maxValues} values.`, {
      hint: valid(),
    });
  }
  const parsed = tool.input.safeParse(args, issueWords);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .slice(0, 5)
    .map((issue) => issueText(issue))
    .join('; ');
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
