import { LRUCache } from 'lru-cache';
import { foldCase, hashSecret, SightlineError, type Logger } from '../../contract/core/index.ts';
import type { BucketRepository } from '../../contract/storage/index.ts';
import type { Bucket, BucketKind, LeakyBuckets } from '../../limits/leaky-buckets.ts';
import { networkOf, type Network } from '../../limits/network.ts';
import type { Place } from '../../limits/work-queue.ts';

/**
 * Slows the guessing of passwords without giving anybody a way to lock others out.
 *
 * Failures are counted by account and network, by account and wide network (IPv4 /24, IPv6 /48), and by network over all
 * accounts. Some are free; beyond them a try has to wait until one has leaked away, and is refused before anything is
 * computed. One network so has about a hundred guesses a day at one account, a wide one three times as many, and trying
 * one password at many accounts ends after fifty, with one a minute from then on.
 *
 * While an account is under attack, a network that is new to it has three free tries instead of ten. No counter of the
 * account alone refuses a try: anybody who knows an address could then lock its owner out.
 *
 * Against lock-out: a network from which the account's right password was shown within 30 days is never refused before
 * the password is checked: the right password passes there, no matter what others do. At a network that is new to the
 * account it passes at the first try, unless the failures were made from that same network, near or wide.
 * What remains is somebody who shares the person's known network: they have as many guesses as two threads compute, some
 * six a second, and every hundredth is in the log for the operator.
 *
 * A try counts as a failure when it begins and is taken back when it was right, so that many at once are not free. A
 * success forgives its own account and network alone: an attacker's own account buys no tries at others'. An address that
 * belongs to no account counts alike, so that being refused tells nothing about whether there is one.
 *
 * All gateways over one storage count together, under hashes of what was typed: trying at several brings nothing but what
 * each lets compute at once. A failure is written when it is one, a success once a day; what has leaked away is forgotten.
 * A try that the storage cannot be asked about is not made.
 */
export interface Throttle {
  /** Throws `rate_limited` where the password is not to be looked at now. */
  begin(email: string, address: string): Promise<Try>;
  /** Forgets an account's known networks: its password changed, so the networks of the old one are strangers. */
  forget(email: string): Promise<void>;
}

/** Exactly one of the three is called, once. */
interface Try {
  /** In the queue of what is computed. */
  readonly place: Place;
  succeeded(): Promise<void>;
  /** Throws `rate_limited` where there were too many. */
  failed(): Promise<void>;
  /** Nothing was found out about the password. */
  abandoned(): void;
}

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

const freeTriesUnderAttack = 3;
/** Failures at one account from networks new to it. */
const attack = 100;
/** Of a network that is new to the account: the queue has places for several such. */
const mostAtOnce = 4;
/** How long before its end a network's being known is drawn out again. */
const renewMs = dayMs;
/** Of accounts at known networks whose mistakes are counted here. */
const capacity = 20_000;

const kinds = {
  pair: { prefix: 'sign-in pair ', size: 10, leakMs: 15 * minuteMs },
  widePair: { prefix: 'sign-in wide ', size: 30, leakMs: 5 * minuteMs },
  network: { prefix: 'sign-in network ', size: 50, leakMs: minuteMs },
  account: { prefix: 'sign-in account ', size: attack, leakMs: 15 * minuteMs },
  /** Full while the network is known to the account. */
  known: { prefix: 'sign-in known ', size: 1, leakMs: 30 * dayMs },
  /** How many networks came to be known to an account: one who signs in from everywhere must not fill the storage. */
  acquaintances: { prefix: 'sign-in new ', size: 50, leakMs: dayMs },
} as const satisfies Readonly<Record<string, BucketKind>>;

type Looked = Readonly<Record<keyof typeof kinds, Bucket>>;

interface ThrottleOptions {
  readonly buckets: LeakyBuckets;
  readonly repository: () => Pick<BucketRepository, 'emptyAll'>;
  readonly logger: Logger;
}

export function createThrottle({ buckets, repository, logger }: ThrottleOptions): Throttle {
  /** Wrong ones by account and known network, since the last right one. They hold up nothing. */
  const mistakes = new LRUCache<string, number>({ max: capacity });

  async function look(account: string, { near, wide }: Network): Promise<Looked> {
    const [pair, widePair, network, byAccount, known, acquaintances] = await buckets.look([
      [kinds.pair, `${account} ${near}`],
      [kinds.widePair, `${account} ${wide}`],
      [kinds.network, near],
      [kinds.account, account],
      [kinds.known, `${account} ${near}`],
      [kinds.acquaintances, account],
    ]);
    if (!pair || !widePair || !network || !byAccount || !known || !acquaintances) throw new Error('not all were found');
    return { pair, widePair, network, account: byAccount, known, acquaintances };
  }

  function atKnownNetwork(account: string, network: Network, { pair, known }: Looked): Try {
    return {
      place: { lane: 'known', party: `${account} ${network.wide}` },
      async succeeded() {
        mistakes.delete(pair.name);
        await buckets.empty(pair);
        if (known.content < kinds.known.leakMs - renewMs) await buckets.add([known]);
      },
      async failed() {
        const failures = (mistakes.get(pair.name) ?? 0) + 1;
        mistakes.set(pair.name, failures);
        await buckets.add([pair]);
        if (failures % attack === 0) {
          const fields = { account, network: network.near, failures };
          logger.warn(fields, 'many wrong passwords for one account at a network known to it');
        }
        if (failures > kinds.pair.size) throw tooMany(pair.wait());
      },
      abandoned() {},
    };
  }

  function atNewNetwork(account: string, { near, wide }: Network, looked: Looked): Try {
    const { pair, known, acquaintances } = looked;
    const counted = [pair, looked.widePair, looked.network, looked.account];
    const end = buckets.hold(counted);
    return {
      // Whichever accounts are tried from there.
      place: { lane: 'stranger', party: wide },
      async succeeded() {
        end();
        await buckets.empty(pair);
        if (acquaintances.wait() === 0) await buckets.add([known, acquaintances]);
      },
      async failed() {
        const wasCalm = looked.account.content <= (attack - 1) * kinds.account.leakMs;
        try {
          await buckets.add(counted);
        } finally {
          end();
        }
        if (wasCalm && looked.account.level >= attack) {
          logger.warn({ account, network: near }, 'many wrong passwords for one account');
        }
      },
      abandoned: end,
    };
  }

  return {
    async begin(email, address) {
      const account = accountKey(email);
      const network = networkOf(address);
      const looked = await look(account, network);
      if (looked.known.content > 0) return atKnownNetwork(account, network, looked);
      const { pair, widePair, account: byAccount } = looked;
      const free = byAccount.level < attack ? kinds.pair.size : freeTriesUnderAttack;
      const wait = Math.max(
        pair.wait(free),
        widePair.wait(),
        looked.network.wait(),
        looked.network.held < mostAtOnce ? 0 : 1,
      );
      if (wait > 0) throw tooMany(wait);
      return atNewNetwork(account, network, looked);
    },

    async forget(email) {
      await repository().emptyAll(`${kinds.known.prefix}${accountKey(email)} `);
    },
  };
}

/** Never what was typed: now and then it is the password. */
function accountKey(email: string): string {
  return hashSecret(foldCase(email.trim()));
}

export function tooMany(seconds: number): SightlineError {
  return new SightlineError('rate_limited', `There were too many wrong passwords. Try again ${inWords(seconds)}.`, {
    retryAfterSeconds: seconds,
  });
}

function inWords(seconds: number): string {
  if (seconds < 60) return 'in a moment';
  const minutes = Math.ceil(seconds / 60);
  return minutes === 1 ? 'in a minute' : `in ${minutes} minutes`;
}
