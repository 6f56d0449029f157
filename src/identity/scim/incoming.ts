import { z } from 'zod';
import { isId, isObject, parseJson, type ScimUserId, SightlineError } from '../../contract/core/index.ts';
import type { ScimGroupChange, ScimUser } from '../../contract/storage/index.ts';
import { invalid, operationsOf } from './patch.ts';
import { attributeOf, type Json, readResource } from './schema.ts';

const member = z.union([z.string(), z.object({ value: z.string() }).transform(({ value }) => value)]);
/** Of one change, in all its operations together. */
const mostMembers = 5_000;
const members = z.union([
  member.transform((one) => [one]),
  // Counted before any is looked at.
  z.array(z.unknown()).max(mostMembers).pipe(z.array(member)),
]);

/** All of a group's operations as one change, so that two that add members at once lose none. */
export function patchGroup(message: unknown): Omit<ScimGroupChange, 'id'> {
  const names: Json = {};
  let replace: readonly ScimUserId[] | undefined;
  const add = new Set<ScimUserId>();
  const drop = new Set<ScimUserId>();
  let named = 0;
  for (const { op, path, value } of operationsOf(message)) {
    const [, attribute = '', chosen] =
      /^(?:urn:[\w:.-]+:Group:)?(\w+)(?:\[value\s+eq\s+"([^"\\]*)"\])?$/i.exec(path) ?? [];
    const { name } = attributeOf('Group', attribute === '' ? path : attribute);
    if (name === 'id' || name === 'schemas' || name === 'meta') continue;
    if (name !== 'members') {
      names[name] = op === 'remove' ? null : value;
      continue;
    }
    const ids = memberIds(chosen ?? value);
    named += ids?.length ?? 0;
    if (named > mostMembers) throw invalid(`A PatchOp names at most ${mostMembers} members in all its Operations`);
    if (op === 'replace' || (op === 'remove' && ids === undefined)) {
      replace = op === 'replace' ? (ids ?? []) : [];
      add.clear();
      drop.clear();
    } else if (op === 'add') {
      for (const id of ids ?? []) if (add.add(id)) drop.delete(id);
    } else {
      for (const id of ids ?? []) if (drop.add(id)) add.delete(id);
    }
  }
  const { displayName, externalId } = names;
  if (displayName === null || (displayName !== undefined && typeof displayName !== 'string')) {
    throw invalid('displayName is a text');
  }
  if (externalId !== undefined && externalId !== null && typeof externalId !== 'string') {
    throw invalid('externalId is a text');
  }
  return {
    ...(displayName === undefined ? {} : { displayName }),
    ...(externalId === undefined ? {} : { externalId }),
    ...(replace === undefined ? {} : { replace }),
    add: [...add],
    remove: [...drop],
  };
}

/** A group as a whole. Its members, which may be thousands, are counted and read without the schema. */
export function wholeGroup(sent: Json): Required<Pick<ScimGroupChange, 'displayName' | 'externalId' | 'replace'>> {
  const isMembers = (name: string): boolean => name.toLowerCase() === 'members';
  const attributes = Object.entries(sent);
  const [, listed] = attributes.findLast(([name]) => isMembers(name)) ?? [];
  const others = Object.fromEntries(attributes.filter(([name]) => !isMembers(name)));
  const { displayName, externalId } = readResource('Group', others);
  if (typeof displayName !== 'string')
    throw invalid(displayName === undefined ? 'displayName is missing' : 'displayName is a text');
  return {
    displayName,
    externalId: typeof externalId === 'string' ? externalId : null,
    replace: memberIds(listed ?? []) ?? [],
  };
}

function memberIds(value: unknown): readonly ScimUserId[] | undefined {
  if (value === undefined || value === null) return undefined;
  const parsed = members.safeParse(value);
  if (!parsed.success)
    throw invalid(`members is a list of at most ${mostMembers} objects with a value, which is the id of a user`);
  return parsed.data.map((id) => {
    if (isId('scu', id)) return id;
    throw invalid('A member of a group is named by the id of a user');
  });
}

/** The primary address, the one of work, any other, or the user name: the first that the organization's provider may speak for. */
export function emailOf({ emails, userName }: Json, domains: readonly string[]): string {
  const all = Array.isArray(emails) ? emails.filter((each) => isObject(each)) : [];
  const ranked = all.toSorted((left, right) => rank(right) - rank(left)).map(({ value }) => value);
  for (const candidate of [...ranked, userName]) {
    if (typeof candidate === 'string' && isWithin(candidate.trim(), domains)) return candidate.trim();
  }
  throw new SightlineError('invalid_argument', 'The user has no e-mail address in a domain of this organization.', {
    hint: 'An operator names the domains in the configuration: scim.organizations[].emailDomain.',
  });
}

function rank({ primary, type }: Json): number {
  return (primary === true ? 2 : 0) + (type === 'work' ? 1 : 0);
}

/** ASCII in the domain, and an address that folds to itself: no letter that merely looks like another is taken for it. */
function isWithin(email: string, domains: readonly string[]): boolean {
  const [, domain = ''] = /^[^\s@\p{C}]{1,64}@([\x21-\x7e]{1,189})$/u.exec(email) ?? [];
  return email.normalize('NFKC') === email && domains.includes(domain.toLowerCase());
}

/** What the account is called. */
export function nameOf({ displayName, name }: Json, email: string): string {
  const { formatted, givenName, familyName } = isObject(name) ? name : {};
  const whole = [givenName, familyName].filter((part) => typeof part === 'string').join(' ');
  for (const candidate of [displayName, formatted, whole]) {
    const text = typeof candidate === 'string' ? candidate.replaceAll(/\p{C}/gu, ' ').trim().slice(0, 200) : '';
    if (text !== '') return text.toWellFormed();
  }
  return email;
}

export function attributesOf({ attributes }: ScimUser): Json {
  const kept = parseJson(attributes);
  return isObject(kept) ? kept : {};
}

export function metaOf({ createdAt, updatedAt }: Pick<ScimUser, 'createdAt' | 'updatedAt'>): Json {
  return { created: createdAt, lastModified: updatedAt };
}
