import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FairQueue, NoPlace, type FairQueueOptions } from './fair-queue.ts';

const roomy = { waiting: 1_000, waitingEach: 1_000, patienceMs: 60_000 };
const never = new AbortController().signal;

/** Lets what was resolved go on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A queue whose users stay until they are told to leave. */
class Users {
  readonly queue: FairQueue;
  /** By name, in the order in which they came in. */
  readonly inside: string[] = [];
  readonly entered: string[] = [];
  readonly refused = new Map<string, unknown>();
  readonly #aborts = new Map<string, AbortController>();

  constructor(options: FairQueueOptions) {
    this.queue = new FairQueue(options);
  }

  /** The key is the first letter of the name, the member what stands behind a slash. */
  come(name: string): void {
    const abort = new AbortController();
    this.#aborts.set(name, abort);
    const came = (): void => {
      this.inside.push(name);
      this.entered.push(name);
    };
    this.queue
      .wait(name.slice(0, 1), name.split('/')[1] ?? '', abort.signal)
      .then(came, (error: unknown) => this.refused.set(name, error));
  }

  abort(name: string): void {
    this.#aborts.get(name)?.abort(new Error('gone'));
  }

  leave(name: string): void {
    this.inside.splice(this.inside.indexOf(name), 1);
    this.queue.leave(name.slice(0, 1));
  }
}

describe('FairQueue', () => {
  it('gives places in turn to each key, and to a key in its own order', async () => {
    const users = new Users({ places: 1, placesEach: 1, ...roomy });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) users.come(name);
    for (let turn = 0; turn < 7; turn += 1) {
      await settle();
      users.leave(users.inside[0] ?? '');
    }
    expect(users.entered).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('gives places of a key in turn to its members, of whom one that sends many keeps out nobody', async () => {
    const users = new Users({ places: 1, placesEach: 1, ...roomy, waitingEach: 8 });
    const many = Array.from({ length: 9 }, (_, number) => `a${number}/ann`);
    for (const name of [...many, 'a/bob', 'a2/bob', 'a/eve', 'b1']) users.come(name);
    await settle();
    // Six of eight that may wait are the most of one member; then there is room for two.
    expect([...users.refused.keys()]).toEqual(['a7/ann', 'a8/ann', 'a/eve']);
    for (let turn = 0; turn < 9; turn += 1) {
      users.leave(users.inside[0] ?? '');
      await settle();
    }
    const bob = ['a1/ann', 'a/bob', 'a2/ann', 'a2/bob'];
    expect(users.entered).toEqual(['a0/ann', 'b1', ...bob, 'a3/ann', 'a4/ann', 'a5/ann', 'a6/ann']);
  });

  it('keeps places for others from a key that has its share', async () => {
    const users = new Users({ places: 4, placesEach: 3, ...roomy });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) users.come(name);
    await settle();
    expect(users.inside).toEqual(['a1', 'a2', 'a3']);
    expect(users.queue.enter('b')).toBe(true);
    expect(users.queue.enter('c')).toBe(false);
  });

  it('refuses at once what is too many, and says whose places are short', async () => {
    const users = new Users({ places: 2, placesEach: 1, waiting: 2, waitingEach: 1, patienceMs: 60_000 });
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'd1']) users.come(name);
    await settle();
    expect(users.refused.get('a3')).toMatchObject({ short: 'each' });
    expect(users.refused.get('d1')).toMatchObject({ short: 'all' });
    expect(users.refused.size).toBe(2);
  });

  it('lets nobody wait for ever', async () => {
    const queue = new FairQueue({ places: 1, placesEach: 1, waiting: 9, waitingEach: 9, patienceMs: 10 });
    expect(queue.enter('a')).toBe(true);
    await expect(queue.wait('b', 'm', never)).rejects.toEqual(new NoPlace('all'));
    await expect(queue.wait('a', 'm', never)).rejects.toMatchObject({ short: 'each' });
    expect(queue.waiting).toBe(0);
    queue.leave('a');
    expect(queue.enter('b')).toBe(true);
  });

  it('forgets at once who is gone, and does not come to who is gone already', async () => {
    const users = new Users({ places: 1, placesEach: 1, ...roomy });
    for (const name of ['a1', 'b1', 'c1']) users.come(name);
    users.abort('b1');
    expect(users.queue.waiting).toBe(1);
    users.leave('a1');
    await settle();
    expect(users.entered).toEqual(['a1', 'c1']);
    expect(users.refused.get('b1')).toEqual(new Error('gone'));
    await expect(users.queue.wait('d', 'm', AbortSignal.abort(new Error('before')))).rejects.toEqual(
      new Error('before'),
    );
  });

  it('notices a place that is given back twice', () => {
    const queue = new FairQueue({ places: 2, placesEach: 2, ...roomy });
    queue.enter('a');
    queue.leave('a');
    expect(() => queue.leave('a')).toThrow('nobody had');
  });

  it('never lets in more than may be, never leaves a place empty that somebody may have, and starves nobody', async () => {
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.constantFrom('a', 'a', 'a', 'b', 'c', 'd').map((key) => ({ kind: 'come', key }) as const),
      },
      { weight: 3, arbitrary: fc.nat(50).map((which) => ({ kind: 'leave', which }) as const) },
      { weight: 1, arbitrary: fc.nat(50).map((which) => ({ kind: 'abort', which }) as const) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 5 }),
        fc.array(step, { maxLength: 80 }),
        async (places, placesEach, steps) => {
          const users = new Users({ places, placesEach, ...roomy });
          const model = new Model(places, placesEach);
          let number = 0;
          for (const one of steps) {
            if (one.kind === 'come') {
              const name = `${one.key}${number}`;
              number += 1;
              users.come(name);
              model.come(name);
            } else if (one.kind === 'leave') {
              const name = users.inside[one.which % users.inside.length];
              if (name === undefined) continue;
              users.leave(name);
              model.leave(name);
            } else {
              const name = model.waiting[one.which % model.waiting.length];
              if (name === undefined) continue;
              users.abort(name);
              model.abort(name);
            }
            await settle();
            expect(users.entered).toEqual(model.entered);
            expect(users.inside.length).toBeLessThanOrEqual(places);
            expect(users.queue.waiting).toBe(model.waiting.length);
          }
          // Everybody who waits gets a place once the others leave.
          for (let left = model.waiting.length + users.inside.length; left > 0; left -= 1) {
            const [name] = users.inside;
            if (name === undefined) throw new Error('somebody waits, and every place is empty');
            users.leave(name);
            await settle();
          }
          expect([users.inside, users.queue.waiting]).toEqual([[], 0]);
          expect(users.entered.length + users.refused.size).toBe(number);
        },
      ),
      { numRuns: 200 },
    );
  });
});

/** The same by counting everything anew each time. */
class Model {
  readonly entered: string[] = [];
  waiting: string[] = [];
  readonly #places: number;
  readonly #each: number;
  #inside: string[] = [];
  /** Keys in the order in which their turn comes: who came into line, or had a place, last is last. */
  #turns: string[] = [];

  constructor(places: number, each: number) {
    this.#places = places;
    this.#each = each;
  }

  come(name: string): void {
    this.waiting.push(name);
    this.#give();
  }

  leave(name: string): void {
    this.#inside = this.#inside.filter((other) => other !== name);
    this.#give();
  }

  abort(name: string): void {
    this.waiting = this.waiting.filter((other) => other !== name);
    this.#give();
  }

  #give(): void {
    const may = (key: string): boolean =>
      this.waiting.some((name) => name.startsWith(key)) &&
      this.#inside.filter((name) => name.startsWith(key)).length < this.#each;
    const keys = [...new Set(this.waiting.map((name) => name.slice(0, 1)))];
    this.#turns = [...this.#turns.filter(may), ...keys.filter((key) => may(key) && !this.#turns.includes(key))];
    const [key] = this.#turns;
    if (key === undefined || this.#inside.length >= this.#places) return;
    const name = this.waiting.find((other) => other.startsWith(key)) ?? '';
    this.waiting = this.waiting.filter((other) => other !== name);
    this.#inside.push(name);
    this.entered.push(name);
    this.#turns = this.#turns.filter((other) => other !== key);
    this.#give();
  }
}
