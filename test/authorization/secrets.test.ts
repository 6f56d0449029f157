import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { recordingLogger } from '../issuer/support.ts';
import { storedBy } from '../support/stored.ts';
import {
  authorize,
  authorizeUrl,
  Browser,
  form,
  locationOf,
  openWorld,
  pkce,
  redeem,
  refresh,
  tokensOf,
  website,
  type World,
} from './support.ts';

describe('what bears authority', () => {
  let world: World;
  const { logger, lines } = recordingLogger();
  beforeAll(async () => {
    world = await openWorld({ logger });
  });
  afterAll(() => world.stop());

  it('is in no log and not readable in the store', async () => {
    const state = 'a-state-that-nobody-may-read';
    const authorized = await authorize(world, { state });
    const tokens = await tokensOf(await redeem(world.url, authorized));
    const renewed = await tokensOf(await refresh(world.url, tokens.refresh_token));
    await redeem(world.url, authorized, { code_verifier: pkce().verifier });
    await redeem(world.url, authorized, { client_id: website.clientId, client_secret: 'a-wrong-secret-to-be-hidden' });
    await refresh(world.url, 'a-refresh-token-that-is-none');
    await fetch(`${world.url}/oauth2/token`, form({ grant_type: 'nonsense', code: authorized.code }));

    const unused = await authorize(world, { state });
    const browser = new Browser();
    const page = locationOf(await browser.get(authorizeUrl(world.url, pkce().challenge, { state })));
    const id = page.slice(page.lastIndexOf('/') + 1);
    await world.servers[0]?.server.stop();

    const secrets = {
      state,
      code: authorized.code,
      verifier: authorized.verifier,
      unused: unused.code,
      interaction: id,
      access: tokens.access_token,
      refresh: tokens.refresh_token ?? '',
      renewed: renewed.refresh_token ?? '',
      wrong: 'a-wrong-secret-to-be-hidden',
      none: 'a-refresh-token-that-is-none',
      client: website.clientSecret,
    };
    const log = lines.join('\n');
    const stored = await storedBy(world.store.storage, world.store.directory);
    for (const [name, secret] of Object.entries(secrets)) {
      expect([name, secret.length > 10, log.includes(secret), stored.includes(secret)]).toEqual([
        name,
        true,
        false,
        false,
      ]);
    }
    expect(stored.includes(world.user.id)).toBe(true);
  });
});
