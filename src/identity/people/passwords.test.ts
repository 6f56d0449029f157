import { scrypt } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createPasswords } from './passwords.ts';

const passwords = createPasswords({ logN: 4 });
const place = { lane: 'stranger', party: '203.0.113' } as const;

describe('passwords', () => {
  it('are hashed with scrypt at N=2^17, r=8, p=1 and a salt of 16 bytes', async () => {
    const kept = await createPasswords().hash('four plain words here', 'usr');
    const [, cost, salt = '', key] = /^\$scrypt\$(ln=17,r=8,p=1)\$([^$]+)\$([^$]+)$/.exec(kept) ?? [];
    expect(cost).toBe('ln=17,r=8,p=1');
    const bytes = Buffer.from(salt, 'base64');
    expect(bytes).toHaveLength(16);
    const options = { N: 131_072, r: 8, p: 1, maxmem: 2 ** 28 };
    const again = await new Promise<string>((resolve, reject) => {
      scrypt('four plain words here', bytes, 32, options, (error, made) =>
        error ? reject(error) : resolve(made.toString('base64').replace('=', '')),
      );
    });
    expect(key).toBe(again);
  });

  it('are never hashed alike twice', async () => {
    expect(await passwords.hash('same', 'usr')).not.toBe(await passwords.hash('same', 'usr'));
  });

  it('match their hash and no other', async () => {
    const kept = await passwords.hash('right', 'usr');
    expect(await passwords.verify('right', kept, place)).toEqual({ right: true, outdated: false });
    expect(await passwords.verify('wrong', kept, place)).toEqual({ right: false, outdated: false });
    expect(await passwords.verify('right', undefined, place)).toEqual({ right: false, outdated: false });
  });

  it('of another cost are checked at that cost and said to be outdated, only when right', async () => {
    const kept = await createPasswords({ logN: 5 }).hash('right', 'usr');
    expect(await passwords.verify('right', kept, place)).toEqual({ right: true, outdated: true });
    expect(await passwords.verify('wrong', kept, place)).toEqual({ right: false, outdated: false });
  });

  it.each(['', 'plain', '$scrypt$ln=99,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'])(
    'whose hash is damaged (%j) are not let in',
    async (damaged) => {
      await expect(passwords.verify('', damaged, place)).rejects.toThrow('damaged');
    },
  );

  it('wait for each other, two at once, and are refused when too many wait', async () => {
    const all = await Promise.allSettled(
      Array.from({ length: 100 }, () => passwords.verify('wrong', undefined, place)),
    );
    const refused = all.filter((each) => each.status === 'rejected');
    expect(refused).toHaveLength(100 - 2 - 32);
    expect(refused[0]?.reason).toMatchObject({ code: 'unavailable' });
  });
});
