import SCIMMY from 'scimmy';
import { isObject, SightlineError } from '../../contract/core/index.ts';

/*
 * scimmy has the schemas of RFC 7643, checks resources by them and describes them. Its resource handlers, routers, filters
 * and PATCH are not used: handlers are one for the whole process, and its filter parser takes time and memory without bound.
 */

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const { Schemas, Resources } = SCIMMY;

export type Json = Record<string, unknown>;
type Kind = 'User' | 'Group';

// Passwords are not taken, and a person's groups are read from the groups.
for (const name of ['password', 'groups']) Schemas.User.definition.truncate(name);
Resources.declare(Resources.User);
Resources.declare(Resources.Group);
Resources.User.extend(Schemas.EnterpriseUser, false);
SCIMMY.Config.set({
  patch: true,
  bulk: false,
  filter: { supported: true, maxResults: 200 },
  changePassword: false,
  sort: false,
  etag: false,
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'OAuth Bearer Token',
      description: 'A SCIM token of the organization, in the Authorization header',
      specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
    },
  ],
});

export const mostBytes = 64 * 1024;
/** In all lists together. A user of Entra ID or Okta has some ten. */
const mostEntries = 200;
/** Attributes, their own attributes and entries: ten of each entry. */
const mostValues = 2_000;

/** Throws where these have more together than a user may. The schema takes up to a tenth of a millisecond for each value. */
export function checkSize(values: readonly unknown[]): void {
  let [bytes, entries, count] = [0, 0, 0];
  const visit = (value: unknown): void => {
    count += 1;
    if (typeof value === 'string') bytes += value.length;
    if (Array.isArray(value)) entries += value.length;
    if (bytes > mostBytes) throw new SightlineError('payload_too_large', 'The attributes of a user are at most 64 kB.');
    if (entries > mostEntries || count > mostValues) {
      throw new SightlineError(
        'payload_too_large',
        `A user has at most ${mostEntries} entries in all lists together, and ${mostValues} values in all.`,
        { hint: 'Map fewer attributes at the identity provider.' },
      );
    }
    if (Array.isArray(value)) value.forEach(visit);
    else if (isObject(value)) {
      for (const [name, each] of Object.entries(value)) {
        bytes += name.length;
        visit(each);
      }
    }
  };
  values.forEach(visit);
}

/**
 * A resource as it was sent, with what its schema has and no more. Throws `invalid_argument` where it does not fit. The members
 * of a group are not among it.
 */
export function readResource(kind: Kind, sent: Json): Json {
  checkSize([sent]);
  return scimmy(() => plain(new Schemas[kind](withManager(sent), 'in')));
}

/** Entra ID names a manager by the id alone, or in a list of one: as the object that the schema has. */
function withManager(sent: Json): Json {
  const read = ([key, value]: [string, unknown]): [string, unknown] => {
    if (key.toLowerCase() === enterprise.toLowerCase() && isObject(value)) return [key, withManager(value)];
    if (!/(?:^|:)manager$/i.test(key)) return [key, value];
    const one: unknown = Array.isArray(value) ? value[0] : value;
    return [key, typeof one === 'string' ? { value: one } : one];
  };
  return Object.fromEntries(Object.entries(sent).map(read));
}

/**
 * A resource as it is answered, with what `attributes` or `excludedAttributes` leave of it. The schema is not asked again: what
 * is kept was read by it, and a list of 200 users would take it seconds.
 */
export function writeResource(kind: Kind, { id, meta, ...attributes }: Json, base: string, shown: Shown): Json {
  const { schemas = [Schemas[kind].id] } = attributes;
  const location = `${base}${Resources[kind].endpoint}/${String(id)}`;
  const about = { resourceType: kind, ...(isObject(meta) ? meta : {}), location };
  return pick(plain({ ...attributes, schemas, id, meta: about }), shown);
}

/** The discovery documents (RFC 7644 §4), by path. */
export async function discover(path: string, base: string): Promise<Json | undefined> {
  const [name = '', id, ...rest] = path.split('/').filter((part) => part !== '');
  if (rest.length > 0) return undefined;
  if (name === 'ServiceProviderConfig' && id === undefined) {
    return plain(await new Resources.ServiceProviderConfig().read());
  }
  const listed =
    name === 'Schemas' ? Schemas.declared().map((each) => plain(each.describe(`${base}/Schemas`))) : undefined;
  const all = name === 'ResourceTypes' ? resourceTypes(base) : listed;
  if (all === undefined) return undefined;
  return id === undefined ? listOf(all, { total: all.length, startIndex: 1 }) : all.find((each) => each['id'] === id);
}

function resourceTypes(base: string): readonly Json[] {
  return [Resources.User, Resources.Group].map((each) =>
    plain(new Schemas.ResourceType(each.describe(), `${base}/ResourceTypes`)),
  );
}

export function listOf(items: readonly Json[], { total, startIndex }: { total: number; startIndex: number }): Json {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: total,
    startIndex,
    itemsPerPage: items.length,
    Resources: items,
  };
}

/** What a request wants to see. */
export interface Shown {
  readonly attributes?: readonly string[];
  readonly excluded: readonly string[];
}

const always = new Set(['schemas', 'id']);

function pick(resource: Json, { attributes, excluded }: Shown): Json {
  const named = (names: readonly string[], key: string): boolean => names.some((name) => isAbout(name, key));
  const keep = (key: string): boolean =>
    always.has(key) || (attributes === undefined ? !named(excluded, key) : named(attributes, key));
  return Object.fromEntries(Object.entries(resource).filter(([key]) => keep(key)));
}

/** Whether `name`, which may be of a sub-attribute or carry the schema's URN, is of this attribute. */
function isAbout(name: string, key: string): boolean {
  const [written, right] = [name.toLowerCase(), key.toLowerCase()];
  const urn = [userSchema, groupSchema].find((each) => written.startsWith(`${each.toLowerCase()}:`)) ?? '';
  const left = urn === '' ? written : written.slice(urn.length + 1);
  return left === right || left.startsWith(`${right}.`) || left.startsWith(`${right}:`);
}

export interface AttributeKind {
  /** As the schema writes it. */
  readonly name: string;
  readonly multiValued: boolean;
  readonly complex: boolean;
  /** URN of the extension that the attribute is of. */
  readonly extension?: string;
  /** Set where the path names the extension itself. */
  readonly schema?: string;
}

/** What a path without filters names. Throws `invalid_argument` where the schema has no such attribute. */
export function attributeOf(kind: Kind, path: string): AttributeKind {
  const found = scimmy(() => Schemas[kind].definition.attribute(path));
  const extension = kind === 'User' && path.toLowerCase().startsWith(`${enterprise.toLowerCase()}`);
  if (!('config' in found)) return { name: '', multiValued: false, complex: true, schema: enterprise };
  return {
    name: found.name,
    multiValued: found.config.multiValued === true,
    complex: String(found.type) === 'complex',
    ...(extension ? { extension: enterprise } : {}),
  };
}

/** scimmy says what is wrong with a resource in words of its own about it, without values of anybody else. */
function scimmy<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : '';
    throw new SightlineError('invalid_argument', `${message.slice(0, 300).replace(/\.?$/, '')}.`, { cause });
  }
}

function plain(value: object): Json {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON of an object is an object
  return JSON.parse(JSON.stringify(value)) as Json;
}
