import { expect, it } from '@jest/globals';
import { newId } from '../../contract/core/index.ts';
import { testVault } from '../../../test/contract/host.ts';
import { newSecret, post, signedHeaders } from './webhooks.ts';

it('signs as the example of Standard Webhooks does', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const at = new Date(1_614_265_330_999);
  expect(signedHeaders(secret, 'msg_p5jXN8AQM9LWM0D4loKWxJek', at, '{"test": 2432232314}')).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

it('makes secrets of 256 bits', () => {
  const [one, other] = [newSecret(), newSecret()];
  expect(Buffer.from(one.slice(6), 'base64')).toHaveLength(32);
  expect(one).not.toBe(other);
});

it('sends nothing under a secret that does not open, and says what to do', async () => {
  const id = newId('whk');
  const sealedSecret = testVault().seal(Buffer.from(newSecret()), `webhook:${id}`);
  const webhook = { id, url: 'http://127.0.0.1:1/', sealedSecret };
  const { signal } = new AbortController();
  const attempt = { webhook, vault: testVault(), id: 'whm_1', body: '{}', now: new Date(), signal };
  expect(await post(attempt)).toBe(
    "the webhook's secret does not open with this master key; remove the webhook, and add it again",
  );
});
