import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Logger } from '../contract/index.ts';
import { createThrottle } from './throttle.ts';
import type { Throttle } from './throttle.ts';

const minute = 60_000;
const day = 1_440 * minute;
const ada = 'ada@example.com';
const home = '198.51.100.1';

let time: number;
let throttle: Throttle;
let warnings: string[];
beforeEach(() => {
  time = 1_000_000_000_000;
  warnings = [];
  const logger: Logger = {
    debug() {},
    info() {},
    warn: (fields, message) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
    error() {},
    child: () => logger,
  };
  throttle = createThrottle({ now: () => new Date(time), logger });
});

/** What somebody is answered who shows a password. */
function show(right: boolean, email: string, address: string): 'in' | 'wrong' | 'wait' | 'wrong, wait' {
  let attempt;
  try {
    attempt = throttle.begin(email, address);
  } catch {
    return 'wait';
  }
  if (right) {
    attempt.succeeded();
    return 'in';
  }
  try {
    attempt.failed();
    return 'wrong';
  } catch {
    return 'wrong, wait';
  }
}
const guess = (email: string, address: string) => show(false, email, address);

/** How many of so many guesses had the password looked at. */
function guesses(count: number, each: (index: number) => readonly [string, string], everyMs = 0): number {
  let looked = 0;
  for (let index = 0; index < count; index += 1) {
    if (guess(...each(index)).startsWith('wrong')) looked += 1;
    time += everyMs;
  }
  return looked;
}

describe('guessing', () => {
  it('of one account from one network has ten tries, then one in a quarter of an hour, a hundred and six a day', () => {
    expect(guesses(50, () => [ada, '192.0.2.9'])).toBe(10);
    time += 15 * minute;
    expect(guesses(50, () => [ada, '192.0.2.9'])).toBe(1);
    time += 10 * day;
    expect(guesses(2 * 1_440, () => [ada, '192.0.2.9'], minute / 2)).toBeLessThanOrEqual(106);
  });

  it('says when to try again, which is then', () => {
    guesses(10, () => [ada, '192.0.2.9']);
    const wait = () => {
      try {
        throttle.begin(ada, '192.0.2.9').abandoned();
      } catch (error) {
        return error;
      }
      return undefined;
    };
    expect(wait()).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 900 });
    time += 899_000;
    expect(wait()).toMatchObject({ retryAfterSeconds: 1 });
    time += 1_000;
    expect(wait()).toBeUndefined();
  });

  it('is counted whatever the case of the address, and the same for one that belongs to nobody', () => {
    const spellings = [ada, 'ADA@example.com', ' Ada@Example.COM '];
    expect(guesses(50, (index) => [spellings[index % 3] ?? '', '192.0.2.9'])).toBe(10);
    expect(guesses(50, () => ['nobody@example.com', '192.0.2.10'])).toBe(10);
  });

  it('with one password at many accounts from one network ends after fifty', () => {
    expect(guesses(500, (index) => [`person${index}@example.com`, '192.0.2.9'])).toBe(50);
    time += 10 * minute;
    expect(guesses(500, (index) => [`person${index + 1_000}@example.com`, '192.0.2.9'])).toBe(10);
  });

  it('from all addresses of an IPv6 /64 is that of one network, and from a /48 or /24 has thirty tries', () => {
    expect(guesses(500, (index) => [ada, `2001:db8:1:2::${index.toString(16)}`])).toBe(10);
    expect(guesses(500, (index) => [ada, `2001:db8:7:${index.toString(16)}::1`])).toBe(30);
    expect(guesses(250, (index) => ['bob@example.com', `192.0.2.${index}`])).toBe(30);
  });

  it('from many networks leaves three tries to each, and is in the log once, without the address', () => {
    const each = (index: number): readonly [string, string] => [ada, `10.${index >> 8}.${index & 255}.1`];
    expect(guesses(100, each)).toBe(100);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('many wrong passwords for one account');
    expect(warnings[0]).not.toContain('ada');
    expect(guesses(10, () => [ada, '172.16.0.1'])).toBe(3);
    expect(guesses(10, () => ['bob@example.com', '172.16.1.1'])).toBe(10);
  });

  it('of many at once is not free', () => {
    const begun = [];
    for (let index = 0; index < 100; index += 1) {
      try {
        begun.push(throttle.begin(`person${index}@example.com`, '192.0.2.9'));
      } catch {
        break;
      }
    }
    expect(begun).toHaveLength(4);
    for (const attempt of begun) attempt.abandoned();
    expect(guesses(50, (index) => [`person${index}@example.com`, '192.0.2.9'])).toBe(50);
  });

  it("is not made free by signing in to the attacker's own accounts now and then", () => {
    let looked = 0;
    for (let index = 0; index < 100; index += 1) {
      show(true, `mallory${index}@example.com`, '192.0.2.9');
      looked += guesses(5, (each) => [`victim${index}-${each}@example.com`, '192.0.2.9']);
    }
    expect(looked).toBe(50);
  });
});

describe('who shows the right password', () => {
  it('is let in where it was shown before, whatever is done there and elsewhere', () => {
    expect(show(true, ada, home)).toBe('in');
    guesses(3_000, (index) => [ada, `10.${index >> 8}.${index & 255}.1`]);
    guesses(3_000, (index) => [`person${index}@example.com`, home]);
    guesses(3_000, () => [ada, home]);
    expect(show(true, ada, home)).toBe('in');
  });

  it('is let in at the first try where nobody has tried, while the account is attacked from everywhere else', () => {
    guesses(5_000, (index) => [ada, `10.${index >> 8}.${index & 255}.1`]);
    expect(show(true, ada, '203.0.113.80')).toBe('in');
  });

  it('has their own mistakes forgiven', () => {
    for (let round = 0; round < 20; round += 1) {
      expect(guesses(9, () => [ada, home])).toBe(9);
      expect(show(true, ada, home)).toBe('in');
    }
  });

  it('does not forgive a stranger elsewhere, nor what others did in the same network', () => {
    guesses(10, () => [ada, '192.0.2.9']);
    show(true, ada, home);
    expect(guess(ada, '192.0.2.9')).toBe('wait');
    guesses(50, (index) => [`person${index}@example.com`, home]);
    show(true, ada, home);
    expect(guess('another@example.com', home)).toBe('wait');
  });

  it('is a stranger again after thirty days, and when the password became another', () => {
    show(true, ada, home);
    guesses(60, () => [ada, home]);
    throttle.forget('ADA@example.com');
    expect(guess(ada, home)).toBe('wait');
    time += 15 * minute;
    expect(show(true, ada, home)).toBe('in');
    time += 30 * day;
    guesses(20, () => [ada, home]);
    expect(guess(ada, home)).toBe('wait');
  });

  it('never waits longer than a quarter of an hour for what others did in the same network', () => {
    guesses(3_000, () => [ada, home]);
    guesses(3_000, (index) => [`person${index}@example.com`, home]);
    time += 15 * minute;
    expect(show(true, ada, home)).toBe('in');
  });
});

describe('a guess at a known network', () => {
  it('is answered like any other from the eleventh on, and every hundredth is in the log', () => {
    show(true, ada, home);
    expect(Array.from({ length: 12 }, () => guess(ada, home))).toEqual([
      ...Array.from({ length: 10 }, () => 'wrong'),
      'wrong, wait',
      'wrong, wait',
    ]);
    guesses(300, () => [ada, home]);
    expect(warnings.filter((line) => line.includes('known to it'))).toHaveLength(3);
  });

  it('waits in another lane than those of strangers', () => {
    expect(throttle.begin(ada, home).place.lane).toBe('stranger');
    show(true, ada, home);
    expect(throttle.begin(ada, home).place.lane).toBe('known');
  });
});
