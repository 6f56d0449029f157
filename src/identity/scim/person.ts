import { isObject, parseJson, SightlineError } from '../../contract/core/index.ts';
import type { ScimUser } from '../../contract/storage/index.ts';
import type { Json } from './schema.ts';

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
