export interface FairQueueOptions {
  /** Slots in total, and at most per key. */
  readonly places: number;
  readonly placesEach: number;
  /** Waiters in total, and at most per key. */
  readonly waiting: number;
  readonly waitingEach: number;
  /** How long any of them waits. */
  readonly patienceMs: number;
}

/** No slot became free: `each` when the key's own limit was reached, `all` when the total was. */
export class NoPlace extends Error {
  readonly short: 'each' | 'all';

  constructor(short: 'each' | 'all') {
    super(`no place: ${short}`);
    this.name = 'NoPlace';
    this.short = short;
  }
}

/** The share of a key's waiters that one member may have. */
const ofOneMember = 3 / 4;

/** Empty lines that are kept: adding and removing a map entry with each query makes V8 rehash the map often. */
const restingLines = 1_000;

interface Line {
  taken: number;
  waiting: number;
  /** The members with waiters, in order of their turns. */
  readonly members: Member[];
}

interface Member {
  readonly name: string;
  /** Oldest first. Not a set, which V8 would rehash often at this turnover. */
  readonly waiting: (() => void)[];
}

const nobody = (): Line => ({ taken: 0, waiting: 0, members: [] });

/**
 * A concurrency limiter with two levels of round robin: a free slot goes to the next key, within it to the next member, and a
 * member's own requests are first in, first out. However many requests one key sends, another key waits for at most one slot
 * of each other key; the same holds for the members of a key.
 *
 * Invariant between calls: either no slot is free, or every key with waiters is at its own limit. That is why `enter` need
 * not look at the lines.
 */
export class FairQueue {
  readonly #options: FairQueueOptions;
  readonly #lines = new Map<string, Line>();
  /** Keys with waiters and below their limit, in order of their turns. */
  readonly #turns = new Map<string, Line>();
  #free: number;
  #waiting = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
    this.#free = options.places;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get taken(): number {
    return this.#options.places - this.#free;
  }

  /** Takes a slot if one is free; the caller returns it with `leave`. */
  enter(key: string): boolean {
    const line = this.#lines.get(key);
    if (this.#free === 0 || (line !== undefined && line.taken >= this.#options.placesEach)) return false;
    this.#free -= 1;
    if (line === undefined) this.#lines.set(key, { ...nobody(), taken: 1 });
    else line.taken += 1;
    return true;
  }

  /** Resolves with a slot taken. Rejects with NoPlace, at once when the queue is full, or with the signal's reason. */
  async wait(key: string, name: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.enter(key)) return;
    const { waiting, waitingEach, placesEach, patienceMs } = this.#options;
    const line = this.#lines.get(key) ?? nobody();
    const member = line.members.find((each) => each.name === name) ?? { name, waiting: [] };
    const short = (): 'each' | 'all' => (line.taken >= placesEach ? 'each' : 'all');
    const most = Math.ceil(waitingEach * ofOneMember);
    if (line.waiting >= waitingEach || member.waiting.length >= most) throw new NoPlace('each');
    if (this.#waiting >= waiting) throw new NoPlace('all');
    this.#lines.set(key, line);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leaveLine = (reason: unknown): void => {
      this.#quit(key, line, member, resolve);
      reject(reason);
    };
    const abort = (): void => leaveLine(signal.reason);
    const timer = setTimeout(() => leaveLine(new NoPlace(short())), patienceMs).unref();
    signal.addEventListener('abort', abort, { once: true });
    if (member.waiting.length === 0) line.members.push(member);
    member.waiting.push(resolve);
    line.waiting += 1;
    this.#waiting += 1;
    if (line.taken < placesEach) this.#turns.set(key, line);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  leave(key: string): void {
    const line = this.#lines.get(key);
    if (line === undefined || line.taken === 0) throw new Error('a place was given back that nobody had');
    line.taken -= 1;
    this.#free += 1;
    // Behind all others, as it has just had a place.
    if (line.waiting > 0) this.#turns.set(key, line);
    else if (line.taken === 0 && this.#lines.size > restingLines) this.#lines.delete(key);
    this.#give();
  }

  #give(): void {
    for (const [key, line] of this.#turns) {
      if (this.#free === 0) return;
      const [member] = line.members;
      const next = member?.waiting[0];
      if (member === undefined || next === undefined) throw new Error('unreachable: nobody waits whose turn it is');
      this.#free -= 1;
      line.taken += 1;
      this.#quit(key, line, member, next);
      // Behind the others of its key.
      if (line.members.length > 1 && line.members[0] === member) line.members.push(...line.members.splice(0, 1));
      // Again at the end, if more of it wait and may have a place: this loop comes by there.
      this.#turns.delete(key);
      if (line.waiting > 0 && line.taken < this.#options.placesEach) this.#turns.set(key, line);
      next();
    }
  }

  #quit(key: string, line: Line, member: Member, who: () => void): void {
    const at = member.waiting.indexOf(who);
    if (at === -1) return;
    member.waiting.splice(at, 1);
    if (member.waiting.length === 0) line.members.splice(line.members.indexOf(member), 1);
    line.waiting -= 1;
    this.#waiting -= 1;
    if (line.waiting > 0) return;
    this.#turns.delete(key);
    if (line.taken === 0 && this.#lines.size > restingLines) this.#lines.delete(key);
  }
}
