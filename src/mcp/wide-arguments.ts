import { isObject, type JsonObject } from '../contract/core/index.ts';

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
export function isAbsent(value: unknown, kind: ArgumentKind | undefined): boolean {
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
