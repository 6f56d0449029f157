import { z } from 'zod';
import { isObject, issueText, issueWords, SightlineError } from '../../contract/core/index.ts';
import { attributeOf, checkSize, userSchema, type Json } from './schema.ts';

/*
 * PATCH (RFC 7644 §3.5.2) as Entra ID and Okta send it: operations in any case, values of several attributes under one
 * operation without a path, and paths that choose an entry which is not there yet.
 */

const patchOp = z.object({
  schemas: z
    .array(z.string())
    .refine((all) => all.includes('urn:ietf:params:scim:api:messages:2.0:PatchOp'), 'that of a PatchOp is missing'),
  // Counted before any is looked at.
  Operations: z
    .array(z.unknown())
    .min(1)
    .max(100)
    .pipe(
      z.array(
        z.object({
          op: z
            .string()
            .toLowerCase()
            .pipe(z.enum(['add', 'remove', 'replace'])),
          path: z.string().min(1).optional(),
          value: z.unknown().optional(),
        }),
      ),
    ),
});

const mostOperations = 200;
const longestPath = 400;

interface Operation {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: string;
  readonly value: unknown;
}

/** One for each attribute. */
export function operationsOf(message: unknown): readonly Operation[] {
  const parsed = patchOp.safeParse(message, issueWords);
  if (!parsed.success) {
    const problems = parsed.error.issues.slice(0, 1).map((issue) => issueText(issue));
    throw invalid(`A PatchOp has its schema and 1 to 100 Operations with op, path and value: ${problems.join()}`);
  }
  const all = parsed.data.Operations.flatMap(({ op, path, value }): readonly Operation[] => {
    if (path !== undefined) return [{ op, path, value }];
    if (op === 'remove' || !isObject(value)) throw invalid('An operation without a path has an object as its value');
    return Object.entries(value).map(([key, each]) => ({ op, path: key, value: each }));
  });
  if (all.length <= mostOperations && all.every(({ path }) => path.length <= longestPath)) return all;
  throw invalid(
    `A PatchOp changes at most ${mostOperations} attributes, by paths of at most ${longestPath} characters`,
  );
}

/** The resource after all operations. What it was stays as it was. Nothing sent, and no state between, exceeds the size of a user. */
export function patchUser(before: Json, message: unknown): Json {
  const operations = operationsOf(message);
  checkSize(operations.map(({ value }) => value));
  const resource = structuredClone(before);
  for (const { op, path, value } of operations) {
    // Okta repeats these beside what it changes.
    if (['id', 'schemas', 'meta'].includes(path.toLowerCase())) continue;
    const target = targetOf(resource, path);
    if (op === 'remove' || value === null) remove(target, op === 'remove' ? value : undefined);
    else put(target, op, value);
    checkSize([resource]);
  }
  return resource;
}

interface Target {
  /** The resource, or its extension. */
  readonly holder: Json;
  readonly name: string;
  readonly sub: string | undefined;
  /** Which entries of a list: those that have all of it. */
  readonly where: Json | undefined;
  readonly multiValued: boolean;
  readonly complex: boolean;
}

const shape = /^(?:(urn:[\w:.-]+):)?([a-z$][\w$-]*)(?:\[([^[\]]*)\])?(?:\.([a-z$][\w$-]*))?$/i;
const choice = /^\s*([a-z$][\w$-]*)\s+eq\s+("(?:[^"\\]|\\.)*"|\w+)\s*$/i;

function targetOf(resource: Json, path: string): Target {
  const bare = withoutPrefix(path);
  const known = attributeOf('User', bare.replace(/\[[^[\]]*\]/, ''));
  const [, urn, name = '', chosen, sub] = shape.exec(bare) ?? [];
  if (known.schema !== undefined) {
    return {
      holder: resource,
      name: known.schema,
      sub: undefined,
      where: undefined,
      multiValued: false,
      complex: true,
    };
  }
  if (name === '') throw invalid(`${JSON.stringify(path)} is no path`);
  const top = attributeOf('User', urn === undefined ? name : `${urn}:${name}`);
  const holder = top.extension === undefined ? resource : objectAt(resource, top.extension);
  return {
    holder,
    name: top.name,
    sub: sub === undefined ? undefined : known.name,
    where: chosen === undefined ? undefined : choiceOf(chosen, top.name),
    multiValued: top.multiValued,
    complex: top.complex,
  };
}

/** The core schema's own URN may stand before its attributes (RFC 7644 §3.10). */
function withoutPrefix(path: string): string {
  return path.toLowerCase().startsWith(`${userSchema.toLowerCase()}:`) ? path.slice(userSchema.length + 1) : path;
}

function choiceOf(text: string, list: string): Json {
  const [, sub = '', value = ''] = choice.exec(text) ?? [];
  const { name } = attributeOf('User', `${list}.${sub}`);
  return { [name]: truth(name, textOf(value)) };
}

function textOf(value: string): string {
  try {
    return value.startsWith('"') ? String(JSON.parse(value)) : value;
  } catch {
    throw invalid('A path chooses by a JSON string');
  }
}

function objectAt(holder: Json, name: string): Json {
  const there = holder[name];
  if (isObject(there)) return there;
  const made: Json = {};
  holder[name] = made;
  return made;
}

function entriesOf({ holder, name }: Target): readonly Json[] {
  const list = holder[name];
  return Array.isArray(list) ? list.filter((entry): entry is Json => isObject(entry)) : [];
}

/** Whether an entry has all of what is wanted. */
function having(wanted: Json): (entry: Json) => boolean {
  const pairs = Object.entries(wanted);
  return (entry) => pairs.every(([key, value]) => entry[key] === value);
}

function remove(target: Target, value: unknown): void {
  const { holder, name, sub, where, multiValued } = target;
  if (!multiValued) {
    if (sub === undefined) delete holder[name];
    else delete objectAt(holder, name)[sub];
    return;
  }
  const wanted = where ?? (isObject(value) ? value : {});
  const some = Array.isArray(value) ? value.filter((each): each is Json => isObject(each)) : [wanted];
  const each = some.map(having);
  const chosen = (entry: Json): boolean => each.some((matches) => matches(entry));
  if (sub === undefined) {
    const left = entriesOf(target).filter((entry) => !chosen(entry));
    // A list without entries is no value (RFC 7643 §2.5).
    holder[name] = left.length > 0 ? left : undefined;
  } else for (const entry of entriesOf(target).filter(chosen)) delete entry[sub];
}

function put(target: Target, op: 'add' | 'replace', value: unknown): void {
  const { holder, name, sub, where, multiValued, complex } = target;
  if (!multiValued) {
    if (sub !== undefined) objectAt(holder, name)[sub] = value;
    else if (complex && isObject(value)) Object.assign(objectAt(holder, name), value);
    else holder[name] = truth(name, value);
    return;
  }
  if (where === undefined && sub === undefined) {
    const given: readonly unknown[] = Array.isArray(value) ? value : [value];
    holder[name] = op === 'add' ? joined(entriesOf(target), given) : given;
    return;
  }
  let chosen = entriesOf(target).filter(having(where ?? {}));
  if (chosen.length === 0) {
    const made = { ...where };
    holder[name] = [...entriesOf(target), made];
    chosen = [made];
  }
  for (const entry of chosen) {
    if (sub !== undefined) entry[sub] = truth(sub, value);
    else if (isObject(value)) Object.assign(entry, value);
    else throw invalid('An entry of a list is an object');
  }
}

/** Of two primary values the one that was added is. */
function joined(before: readonly Json[], added: readonly unknown[]): readonly unknown[] {
  const given = added.filter((each) => !(isObject(each) && before.some(having(each))));
  const primary = given.some((each) => isObject(each) && each['primary'] === true);
  return [
    ...before.map((entry) => (primary && entry['primary'] === true ? { ...entry, primary: false } : entry)),
    ...given,
  ];
}

/** Entra ID writes booleans as texts. */
export function truth(name: string, value: unknown): unknown {
  if ((name !== 'active' && name !== 'primary') || typeof value !== 'string') return value;
  const text = value.toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : value;
}

export function invalid(message: string): SightlineError {
  return new SightlineError('invalid_argument', `${message}.`);
}
