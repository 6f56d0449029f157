import { foldCase, hashSecret, SightlineError } from '../contract/index.ts';
import type { Logger } from '../contract/index.ts';
import { createLeakyBuckets } from './leaky-buckets.ts';
import { networkOf } from './network.ts';
import type { Network } from './network.ts';
import { RecentMap } from './recent-map.ts';
import type { Place } from './work-queue.ts';

/**
 * Slows the guessing of passwords without giving anybody a way to lock others out.
 *
 * Failures are counted by account and network, by account and wide network (IPv4 /24, IPv6 /48), and by network over all
 * accounts. Some are free, and what is beyond them has to wait until one has leaked away, a quarter of an hour at most;
 * what comes sooner is refused before anything is computed. One network so has about a hundred guesses a day at one
 * account, a wide one three times as many, and trying one password at many accounts ends after fifty, with one a minute
 * from then on.
 *
 * Against guessing from many networks: while an account is under attack, a network that is new to it has three free tries
 * instead of ten. No counter is the account's own and refuses by itself: that would hand everybody who knows an address
 * the means to lock its owner out.
 *
 * Against lock-out: a network from which the account's right password was shown within 30 days is never refused before
 * the password is looked at; whatever others do, and from wherever, the right password passes there. At a network that
 * is new to the account it passes at the first try, unless the failures were made from that same network, near or wide.
 * What remains is somebody who shares the person's known network: they have as many guesses as two threads compute, some
 * six a second (of passwords of ten characters and more that are not common), and every hundredth is in the log for the
 * operator.
 *
 * A try counts as a failure when it begins and is taken back when it was right, so that many at once are not free. A
 * success forgives its own account and network alone: an attacker's own account buys no tries at others'. An address that
 * belongs to no account counts alike, so that being refused tells nothing about whether there is one.
 *
 * It is all in memory and bounded, each instance for itself, under hashes of what was typed. A restart forgets who is
 * known, and costs a person no more than the free tries.
 */
export interface Throttle {
  /** Throws `rate_limited` where the password is not to be looked at now. */
  begin(email: string, address: string): Try;
  /** Ends what is known of an account: its password is another now, and whoever had the old one is a stranger. */
  forget(email: string): void;
}

/** Exactly one of the three is called, once. */
export interface Try {
  /** In the queue of what is computed. */
  readonly place: Place;
  succeeded(): void;
  /** Throws `rate_limited` where there were too many. */
  failed(): void;
  /** Nothing was found out about the password. */
  abandoned(): void;
}

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
const capacity = 20_000;

const freeTries = 10;
const freeTriesUnderAttack = 3;
const freeTriesOfWideNetwork = 30;
const freeTriesOfNetwork = 50;
/** Failures at one account from networks new to it. */
const attack = 100;
/** Of a network that is new to the account: the queue has places for several such. */
const mostAtOnce = 4;
const knownMs = 30 * dayMs;

export function createThrottle({ now, logger }: { readonly now: () => Date; readonly logger: Logger }): Throttle {
  const buckets = (size: number, leakMs: number) => createLeakyBuckets({ size, leakMs, now, capacity });
  const byPair = buckets(freeTries, 15 * minuteMs);
  const byWidePair = buckets(freeTriesOfWideNetwork, 5 * minuteMs);
  const byNetwork = buckets(freeTriesOfNetwork, minuteMs);
  const byAccount = buckets(attack, 15 * minuteMs);
  /** When the right password was last shown, by account and network. */
  const known = new RecentMap<number>(capacity);
  /** Wrong ones by account and known network, since the last right one. They hold up nothing. */
  const mistakes = new RecentMap<number>(capacity);
  const underWay = new Map<string, number>();

  function isKnown(pair: string): boolean {
    return now().getTime() - (known.get(pair) ?? -Infinity) < knownMs;
  }

  function atKnownNetwork(account: string, pair: string, widePair: string, network: string): Try {
    return {
      place: { lane: 'known', party: widePair },
      succeeded() {
        byPair.empty(pair);
        mistakes.delete(pair);
        known.set(pair, now().getTime());
      },
      failed() {
        const failures = (mistakes.get(pair) ?? 0) + 1;
        mistakes.set(pair, failures);
        byPair.add(pair);
        if (failures % attack === 0) {
          logger.warn({ account, network, failures }, 'many wrong passwords for one account at a network known to it');
        }
        if (failures > freeTries) throw tooMany(byPair.wait(pair));
      },
      abandoned() {},
    };
  }

  function atNewNetwork(account: string, pair: string, widePair: string, { near: network, wide }: Network): Try {
    byPair.add(pair);
    byWidePair.add(widePair);
    byNetwork.add(network);
    const wasCalm = byAccount.level(account) < attack;
    byAccount.add(account);
    if (wasCalm && byAccount.level(account) === attack) {
      logger.warn({ account, network }, 'many wrong passwords for one account');
    }
    underWay.set(network, (underWay.get(network) ?? 0) + 1);
    const end = (): void => {
      const left = (underWay.get(network) ?? 1) - 1;
      if (left === 0) underWay.delete(network);
      else underWay.set(network, left);
    };
    const takeBack = (): void => {
      end();
      byPair.takeBack(pair);
      byWidePair.takeBack(widePair);
      byNetwork.takeBack(network);
      byAccount.takeBack(account);
    };
    return {
      // Whichever accounts are tried from there.
      place: { lane: 'stranger', party: wide },
      succeeded() {
        takeBack();
        byPair.empty(pair);
        known.set(pair, now().getTime());
      },
      failed: end,
      abandoned: takeBack,
    };
  }

  return {
    begin(email, address) {
      const account = accountKey(email);
      const network = networkOf(address);
      const { near, wide } = network;
      const pair = `${account} ${near}`;
      const widePair = `${account} ${wide}`;
      if (isKnown(pair)) return atKnownNetwork(account, pair, widePair, near);
      const free = byAccount.level(account) < attack ? freeTries : freeTriesUnderAttack;
      const wait = Math.max(
        byPair.wait(pair, free),
        byWidePair.wait(widePair),
        byNetwork.wait(near),
        (underWay.get(near) ?? 0) < mostAtOnce ? 0 : 1,
      );
      if (wait > 0) throw tooMany(wait);
      return atNewNetwork(account, pair, widePair, network);
    },

    forget(email) {
      const account = `${accountKey(email)} `;
      known.deleteWhere((pair) => pair.startsWith(account));
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
