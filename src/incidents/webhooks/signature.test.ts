import { expect, it } from '@jest/globals';
import { newSecret, signedHeaders } from './webhooks.ts';

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
