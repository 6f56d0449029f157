import { SightlineError } from '../../contract/core/index.ts';
import { userSchema, groupSchema, type Shown } from './schema.ts';

/** What a list may be asked by, in small letters, and what it is here. */
export const userFields = {
  id: 'id',
  username: 'userName',
  externalid: 'externalId',
  emails: 'email',
  'emails.value': 'email',
} as const;

export const groupFields = {
  id: 'id',
  displayname: 'displayName',
  externalid: 'externalId',
  members: 'member',
  'members.value': 'member',
} as const;

export interface ListQuery<Field extends string> extends Shown {
  readonly where: Readonly<Partial<Record<Field, string>>>;
  readonly startIndex: number;
  readonly count: number;
}

const mostListed = 200;
const longestFilter = 1_000;
const mostConditions = 10;
const mostAttributes = 50;

/** The query of a list (RFC 7644 §3.4.2). Sorting is not supported and left out, as §3.4.2.3 allows. */
export function readQuery<Field extends string>(
  query: URLSearchParams,
  fields: Readonly<Record<string, Field>>,
): ListQuery<Field> {
  return {
    where: readFilter(query.get('filter'), fields),
    startIndex: Math.max(1, wholeNumber(query, 'startIndex', 1)),
    count: Math.min(mostListed, Math.max(0, wholeNumber(query, 'count', mostListed / 2))),
    ...readShown(query),
  };
}

export function readShown(query: URLSearchParams): Shown {
  const attributes = names(query, 'attributes');
  return { ...(attributes === undefined ? {} : { attributes }), excluded: names(query, 'excludedAttributes') ?? [] };
}

function names(query: URLSearchParams, name: string): readonly string[] | undefined {
  const given = query.get(name);
  if (given === null || given.trim() === '') return undefined;
  const all = given.split(',', mostAttributes + 1).map((each) => each.trim());
  if (all.length <= mostAttributes && all.every((each) => /^[\w:.$-]{1,200}$/.test(each))) return all;
  throw new SightlineError('invalid_argument', `${name} is a list of at most ${mostAttributes} names of attributes.`);
}

function wholeNumber(query: URLSearchParams, name: string, usual: number): number {
  const given = query.get(name);
  if (given === null || given === '') return usual;
  if (/^-?\d{1,9}$/.test(given)) return Number(given);
  throw new SightlineError('invalid_argument', `${name} is a whole number.`);
}

const quoted = String.raw`"(?:[^"\\]|\\.)*"`;
/** `path eq value`, where the path may choose one kind of a value: `emails[type eq "work"].value`. */
const condition = new RegExp(
  String.raw`\s*([\w:.$-]+)(?:\[type\s+eq\s+${quoted}\](\.\w+)?)?\s+eq\s+(${quoted}|[^\s"()[\]]+)\s*`,
  'iy',
);
const conjunction = /and\s/iy;

/** Only equality, joined by `and`: what Entra ID and Okta ask by, and what an index answers. */
export function readFilter<Field extends string>(
  filter: string | null,
  fields: Readonly<Record<string, Field>>,
): Partial<Record<Field, string>> {
  const where: Partial<Record<Field, string>> = {};
  if (filter === null) return where;
  if (filter.length > longestFilter) throw badFilter(`is longer than ${longestFilter} characters`);
  let at = 0;
  for (let count = 0; count === 0 || at < filter.length; count += 1) {
    if (count === mostConditions) throw badFilter(`has more than ${mostConditions} conditions`);
    if (count > 0) at = match(conjunction, filter, at).end;
    const {
      end,
      groups: [path = '', sub = '', value = ''],
    } = match(condition, filter, at);
    at = end;
    const field = fieldOf(`${path}${sub}`, fields);
    const text = textOf(value);
    if (where[field] !== undefined && where[field] !== text) throw badFilter('wants two values of one attribute');
    where[field] = text;
  }
  return where;
}

function match(
  pattern: RegExp,
  text: string,
  at: number,
): { readonly end: number; readonly groups: readonly string[] } {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  if (found === null) throw badFilter('cannot be read');
  return { end: pattern.lastIndex, groups: found.slice(1) };
}

function fieldOf<Field extends string>(path: string, fields: Readonly<Record<string, Field>>): Field {
  const whole = path.toLowerCase();
  const urn = [userSchema, groupSchema].find((each) => whole.startsWith(`${each.toLowerCase()}:`));
  const name = urn === undefined ? whole : whole.slice(urn.length + 1);
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field === undefined) throw badFilter(`is by another attribute than ${Object.keys(fields).join(', ')}`);
  return field;
}

function textOf(value: string): string {
  if (!value.startsWith('"')) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    throw badFilter('has a value that is no JSON string');
  }
}

/** The message is told apart from others by this, since SCIM has a keyword of its own for it. */
export class FilterError extends SightlineError {}

function badFilter(why: string): FilterError {
  return new FilterError('invalid_argument', `The filter ${why}.`, {
    hint: 'A filter is by equality, joined by and: userName eq "ada@example.com".',
  });
}
