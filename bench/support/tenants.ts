import { openWorkspace } from '../../src/gateway/wiring/index.ts';
import { scopes } from '../../src/contract/issuer/index.ts';
import type { Credentials } from '../../test/support/gateway.ts';
import { exchange } from '../chaos/client.ts';

export interface Tenant {
  readonly key: Credentials;
  readonly ingestToken: string;
  /** Access tokens, each another one. */
  readonly tokens: string[];
}

const mintedAtOnce = 8;

/** In one process: a command for each would take an hour. */
export async function makeTenants(settings: { readonly data: string; readonly config: string }, count: number) {
  const workspace = await openWorkspace(settings);
  const tenants: Tenant[] = [];
  try {
    for (let number = 0; number < count; number += 1) {
      const { id } = await workspace.organizations.create(`tenant-${number}`);
      const made = await workspace.keys.create({
        organizationId: id,
        name: 'bench',
        scopes,
        actor: { kind: 'operator', id: 'bench', name: 'bench' },
      });
      const ingestToken = await workspace.ingestTokens.ensure(id);
      tenants.push({ key: { client_id: made.clientId, client_secret: made.clientSecret }, ingestToken, tokens: [] });
    }
    return tenants;
  } finally {
    await workspace.close();
  }
}

/** So many access tokens, of one organization after another. */
export async function mint(url: string, tenants: readonly Tenant[], count: number): Promise<void> {
  let next = 0;
  const line = async (): Promise<void> => {
    while (next < count) {
      const tenant = tenants[next % tenants.length];
      next += 1;
      if (tenant === undefined) throw new Error('there is no organization');
      const { token, status, body } = await exchange(url, tenant.key);
      if (token === undefined) throw new Error(`no token was given out: ${status} ${body}`);
      tenant.tokens.push(token);
    }
  };
  await Promise.all(Array.from({ length: mintedAtOnce }, line));
}
