import { isObject, type JsonObject } from '../../src/contract/core/index.ts';
import type { Organization } from '../../src/contract/storage/index.ts';
import { openSite, type Site } from '../web/support/site.ts';

export const schemas = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  enterprise: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  patch: 'urn:ietf:params:scim:api:messages:2.0:PatchOp',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
};

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Empty where there is none. */
  readonly body: JsonObject;
  /** What a dotted path leads to: `emails.0.value`. */
  at(path: string): unknown;
}

/** An identity provider's connection to one organization. */
export interface Provider {
  readonly organization: Organization;
  readonly token: string;
  send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  user(more?: object): Promise<Answer>;
  patch(path: string, ...operations: readonly object[]): Promise<Answer>;
  /** Addresses of the organization's members, with their roles. */
  members(): Promise<ReadonlyMap<string, string>>;
}

export interface Scim {
  readonly site: Site;
  readonly acme: Provider;
  readonly globex: Provider;
  close(): Promise<void>;
}

export async function openScim(): Promise<Scim> {
  const site = await openSite();
  return {
    site,
    acme: await connect(site, 'Acme'),
    globex: await connect(site, 'Globex'),
    close: () => site.close(),
  };
}

let made = 0;

export async function connect(site: Site, name: string): Promise<Provider> {
  const organization = await site.organization(name);
  const operator = { kind: 'operator', id: 'root', name: 'root' } as const;
  const { token } = await site.scimTokens.create(organization.id, operator);
  const send: Provider['send'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${site.authUrl}/scim/v2${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/scim+json; charset=utf-8' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return answerOf(response);
  };
  return {
    organization,
    token,
    send,
    user(more = {}) {
      made += 1;
      const userName = `person${made}@${name.toLowerCase()}.example`;
      const emails = [{ primary: true, type: 'work', value: userName }];
      const person = { givenName: 'Barbara', familyName: `Jensen${made}` };
      return send('POST', '/Users', {
        schemas: [schemas.user],
        userName,
        name: person,
        emails,
        displayName: 'Barbara Jensen',
        active: true,
        ...more,
      });
    },
    patch: (path, ...Operations) => send('PATCH', path, { schemas: [schemas.patch], Operations }),
    async members() {
      const listed = await site.storage.workspace(organization.id).members.list();
      return new Map(listed.map(({ user, role }) => [user.email, role]));
    },
  };
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const parsed: unknown = text === '' ? {} : JSON.parse(text);
  const body = isObject(parsed) ? parsed : {};
  return {
    status: response.status,
    headers: response.headers,
    text,
    body,
    at: (path) => path.split('.').reduce<unknown>(step, body),
  };
}

function step(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isObject(value) ? value[key] : undefined;
}
