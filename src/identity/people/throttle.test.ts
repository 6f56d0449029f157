import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import storagePlugin from '../../../plugins/storage-knex/index.ts';
import { testHost } from '../../../test/contract/host.ts';
import type { Logger } from '../../contract/core/index.ts';
import type { Storage } from '../../contract/storage/index.ts';
import { createLeakyBuckets } from '../../limits/leaky-buckets.ts';
import { createThrottle, type Throttle } from './throttle.ts';

const minute = 60_000;
const day = 1_440 * minute;
const ada = 'ada@example.com';
const home = '198.51.100.1';

let time = 1_000_000_000_000;
let directory = '';
let storage: Storage;
let throttle: Throttle;
let warnings: string[];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sl-throttle-'));
  storage = storagePlugin.create({ client: 'sqlite' }, testHost(directory));
  await storage.start(AbortSignal.timeout(20_000));
});
afterAll(async () => {
  await storage.stop();
  await rm(directory, { recursive: true });
});

/** As another gateway over the same storage has it. */
function another(): Throttle {
  const logger: Logger = {
    debug() {},
    info() {},
    warn: (fields, message) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
    error() {},
    child: () => logger,
  };
  const repository = () => storage.directory.buckets;
  const buckets = createLeakyBuckets({ repository, now: () => new Date(time) });
  return createThrottle({ buckets, repository, logger });
}

beforeEach(() => {
  // What the test before left has leaked away.
  time += 100 * day;
  warnings = [];
  throttle = another();
});

/** What somebody is answered who shows a password. */
async function show(
  right: boolean,
  email: string,
  address: string,
  at = throttle,
): Promise<'in' | 'wrong' | 'wait' | 'wrong, wait'> {
  let attempt;
  try {
    attempt = await at.begin(email, address);
  } catch {
    return 'wait';
  }
  if (right) {
    await attempt.succeeded();
    return 'in';
  }
  try {
    await attempt.failed();
    return 'wrong';
  } catch {
    return 'wrong, wait';
  }
}
const guess = (email: string, address: string, at = throttle) => show(false, email, address, at);

/** How many of so many guesses had the password looked at. */
async function guesses(
  count: number,
  each: (index: number) => readonly [email: string, address: string, at?: Throttle | undefined],
  everyMs = 0,
): Promise<number> {
  let looked = 0;
  for (let index = 0; index < count; index += 1) {
    if ((await guess(...each(index))).startsWith('wrong')) looked += 1;
    time += everyMs;
  }
  return looked;
}

describe('guessing', () => {
  it('of one account from one network has ten tries, then one in a quarter of an hour, a hundred and six a day', async () => {
    expect(await guesses(50, () => [ada, '192.0.2.9'])).toBe(10);
    time += 15 * minute;
    expect(await guesses(50, () => [ada, '192.0.2.9'])).toBe(1);
    time += 10 * day;
    expect(await guesses(2 * 1_440, () => [ada, '192.0.2.9'], minute / 2)).toBeLessThanOrEqual(106);
  });

  it('says when to try again, which is then', async () => {
    await guesses(10, () => [ada, '192.0.2.9']);
    const wait = async () => {
      try {
        (await throttle.begin(ada, '192.0.2.9')).abandoned();
      } catch (error) {
        return error;
      }
      return undefined;
    };
    expect(await wait()).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 900 });
    time += 899_000;
    expect(await wait()).toMatchObject({ retryAfterSeconds: 1 });
    time += 1_000;
    expect(await wait()).toBeUndefined();
  });

  it('is counted whatever the case of the address, and the same for one that belongs to nobody', async () => {
    const spellings = [ada, 'ADA@example.com', ' Ada@Example.COM '];
    expect(await guesses(50, (index) => [spellings[index % 3] ?? '', '192.0.2.9'])).toBe(10);
    expect(await guesses(50, () => ['nobody@example.com', '192.0.2.10'])).toBe(10);
  });

  it('with one password at many accounts from one network ends after fifty', async () => {
    expect(await guesses(200, (index) => [`person${index}@example.com`, '192.0.2.9'])).toBe(50);
    time += 10 * minute;
    expect(await guesses(200, (index) => [`person${index + 1_000}@example.com`, '192.0.2.9'])).toBe(10);
  });

  it('from all addresses of an IPv6 /64 is that of one network, and from a /48 or /24 has thirty tries', async () => {
    expect(await guesses(500, (index) => [ada, `2001:db8:1:2::${index.toString(16)}`])).toBe(10);
    expect(await guesses(500, (index) => [ada, `2001:db8:7:${index.toString(16)}::1`])).toBe(30);
    expect(await guesses(250, (index) => ['bob@example.com', `192.0.2.${index}`])).toBe(30);
  });

  it('from many networks leaves three tries to each, and is in the log once, without the address', async () => {
    const each = (index: number): readonly [string, string] => [ada, `10.${index >> 8}.${index & 255}.1`];
    expect(await guesses(100, each)).toBe(100);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('many wrong passwords for one account');
    expect(warnings[0]).not.toContain('ada');
    expect(await guesses(10, () => [ada, '172.16.0.1'])).toBe(3);
    expect(await guesses(10, () => ['bob@example.com', '172.16.1.1'])).toBe(10);
  });

  it('of many at once is not free', async () => {
    const begun = [];
    for (let index = 0; index < 100; index += 1) {
      try {
        begun.push(await throttle.begin(`person${index}@example.com`, '192.0.2.9'));
      } catch {
        break;
      }
    }
    expect(begun).toHaveLength(4);
    for (const attempt of begun) attempt.abandoned();
    expect(await guesses(50, (index) => [`person${index}@example.com`, '192.0.2.9'])).toBe(50);
  });

  it("is not made free by signing in to the attacker's own accounts now and then", async () => {
    let looked = 0;
    for (let index = 0; index < 100; index += 1) {
      await show(true, `mallory${index}@example.com`, '192.0.2.9');
      looked += await guesses(5, (each) => [`victim${index}-${each}@example.com`, '192.0.2.9']);
    }
    expect(looked).toBe(50);
  });
});

describe('who shows the right password', () => {
  it('is let in where it was shown before, whatever is done there and elsewhere', async () => {
    expect(await show(true, ada, home)).toBe('in');
    await guesses(600, (index) => [ada, `10.${index >> 8}.${index & 255}.1`]);
    await guesses(600, (index) => [`person${index}@example.com`, home]);
    await guesses(600, () => [ada, home]);
    expect(await show(true, ada, home)).toBe('in');
  });

  it('is let in at the first try where nobody has tried, while the account is attacked from everywhere else', async () => {
    await guesses(700, (index) => [ada, `10.${index >> 8}.${index & 255}.1`]);
    expect(await show(true, ada, '203.0.113.80')).toBe('in');
  });

  it('has their own mistakes forgiven', async () => {
    for (let round = 0; round < 20; round += 1) {
      expect(await guesses(9, () => [ada, home])).toBe(9);
      expect(await show(true, ada, home)).toBe('in');
    }
  });

  it('does not forgive a stranger elsewhere, nor what others did in the same network', async () => {
    await guesses(10, () => [ada, '192.0.2.9']);
    await show(true, ada, home);
    expect(await guess(ada, '192.0.2.9')).toBe('wait');
    await guesses(50, (index) => [`person${index}@example.com`, home]);
    await show(true, ada, home);
    expect(await guess('another@example.com', home)).toBe('wait');
  });

  it('is a stranger again after thirty days, and when the password became another', async () => {
    await show(true, ada, home);
    await guesses(60, () => [ada, home]);
    await throttle.forget('ADA@example.com');
    expect(await guess(ada, home)).toBe('wait');
    time += 15 * minute;
    expect(await show(true, ada, home)).toBe('in');
    time += 30 * day;
    await guesses(20, () => [ada, home]);
    expect(await guess(ada, home)).toBe('wait');
  });

  it('never waits longer than a quarter of an hour for what others did in the same network', async () => {
    await guesses(600, () => [ada, home]);
    await guesses(600, (index) => [`person${index}@example.com`, home]);
    time += 15 * minute;
    expect(await show(true, ada, home)).toBe('in');
  });
});

describe('a guess at a known network', () => {
  it('is answered like any other from the eleventh on, and every hundredth is in the log', async () => {
    await show(true, ada, home);
    const answers = [];
    for (let turn = 0; turn < 12; turn += 1) answers.push(await guess(ada, home));
    expect(answers).toEqual([...Array.from({ length: 10 }, () => 'wrong'), 'wrong, wait', 'wrong, wait']);
    await guesses(300, () => [ada, home]);
    expect(warnings.filter((line) => line.includes('known to it'))).toHaveLength(3);
  });

  it('waits in another lane than those of strangers', async () => {
    expect((await throttle.begin(ada, home)).place.lane).toBe('stranger');
    await show(true, ada, home);
    expect((await throttle.begin(ada, home)).place.lane).toBe('known');
  });
});

describe('several gateways', () => {
  it('give no more tries than one', async () => {
    const gateways = [another(), another(), another()];
    expect(await guesses(90, (index) => [ada, '192.0.2.9', gateways[index % 3]])).toBe(10);
    expect(await guesses(200, (index) => [`person${index}@example.com`, '192.0.2.77', gateways[index % 3]])).toBe(50);
  });

  it('let in at each who was let in at one of them, whatever is done there and elsewhere', async () => {
    const [here, there] = [another(), another()];
    expect(await show(true, ada, home, here)).toBe('in');
    await guesses(200, () => [ada, home, here]);
    await guesses(200, (index) => [`person${index}@example.com`, home, here]);
    expect(await show(true, ada, home, there)).toBe('in');
    await here.forget(ada);
    await guesses(40, () => [ada, home, here]);
    expect(await guess(ada, home, there)).toBe('wait');
  });

  it('keep nobody out for what a clock has counted that was ahead', async () => {
    time += 30 * day;
    await guesses(40, (index) => ['bob@example.com', '203.0.113.7', index % 2 === 0 ? throttle : another()]);
    await guesses(60, (index) => [`person${index}@example.com`, '203.0.113.7']);
    expect(await show(true, ada, '203.0.113.7')).toBe('wait');
    time -= 30 * day;
    expect(await show(true, ada, '203.0.113.7')).toBe('in');
    expect(await show(true, 'bob@example.com', '203.0.113.7', another())).toBe('in');
  });

  it('keep nothing of what has leaked away, and nothing of whom they refuse', async () => {
    const { buckets } = storage.directory;
    const kept = async (): Promise<number> => (await buckets.list('sign-in', 10 ** 13, new Date(0), 1_000)).size;
    await buckets.removeEmpty(new Date(time));
    expect(await kept()).toBe(0);
    await guesses(200, () => [ada, '192.0.2.9']);
    expect(await kept()).toBe(4);
    time += 2 * day;
    await buckets.removeEmpty(new Date(time));
    expect(await kept()).toBe(0);
  });
});
