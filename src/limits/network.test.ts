import { describe, expect, it } from '@jest/globals';
import { networkOf } from './network.ts';

describe('the network of an address', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7', '203.0.113'],
    ['::ffff:203.0.113.7', '203.0.113.7', '203.0.113'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
    ['::1', '0:0:0:0::/64', '0:0:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
    ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64', '64:ff9b:0::/48'],
    ['::ffff:cb00:7107', '203.0.113.7', '203.0.113'],
    ['unknown', 'unknown', 'unknown'],
  ])('%s is %s, widely %s', (address, near, wide) => {
    expect(networkOf(address)).toEqual({ near, wide });
  });

  it('is short, whatever is given', () => {
    expect(networkOf('x'.repeat(10_000)).near.length).toBeLessThanOrEqual(64);
  });
});
