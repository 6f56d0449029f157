import SCIMMY from 'scimmy';
import { SightlineError } from '../../contract/core/index.ts';

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

/** A resource as it was sent, with what its schema has and no more. Throws `invalid_argument` where it does not fit. */
export function readResource(kind: Kind, sent: Json): Json {
  return scimmy(() => plain(new Schemas[kind](sent, 'in')));
}

/** A resource as it is answered, with what `attributes` or `excludedAttributes` leave of it. */
export function writeResource(kind: Kind, resource: Json, base: string, shown: Shown): Json {
  return scimmy(() => {
    const { endpoint } = Resources[kind];
    const whole = plain(new Schemas[kind](resource, 'out', `${base}${endpoint}`));
    return pick(whole, shown);
  });
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
