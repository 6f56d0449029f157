import { issuerHost } from '../../../src/gateway/wiring/plugins.ts';
import { testHost } from '../../../test/contract/host.ts';
import type { Logger } from '../../../src/contract/core/index.ts';
import type { Issuer, RedirectSignIn } from '../../../src/contract/issuer/index.ts';
import type { Storage } from '../../../src/contract/storage/index.ts';
import { testClock, type Clock, type TestStore } from '../../../test/issuer/support.ts';
import plugin from '../index.ts';
import { recorded } from '../../../test/support/recorded.ts';

export const authUrl = 'http://127.0.0.1:8099';
export const redirectUri = `${authUrl}/sign-in/callback`;
export const resource = `${authUrl}/mcp`;
export const secret = 'the secret of the client';

export interface Making {
  readonly authUrl?: string;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** As another gateway opened it. */
  readonly storage?: Storage;
}

/** The plugin, given the host that the gateway gives it. `config` is what stands in the config file. */
export function makeOidcIssuer(store: TestStore, config: object, making: Making = {}): Issuer {
  const { authUrl: url = authUrl, clock = testClock(), logger, storage = store.storage } = making;
  const host = testHost(store.directory, {
    authUrl: url,
    publicUrl: url,
    vault: store.vault,
    now: clock.now,
    ...(logger === undefined ? {} : { logger }),
  });
  return plugin.create(plugin.configSchema.parse(config), issuerHost(host, recorded(storage), `${url}/mcp`));
}

export function redirectSignIn({ signIn }: Issuer): RedirectSignIn {
  if (signIn.kind !== 'redirect') throw new Error('people are to sign in elsewhere');
  return signIn;
}
