import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { join, resolve } from 'node:path';
import { SightlineError, type Logger, type OrganizationId } from '../../src/contract/core/index.ts';
import type { Channel } from './channel.ts';
import { connectEngine, letGo, type EngineProcess } from './engine-process.ts';
import { notOpened } from './failures.ts';
import { createRoom, tooManyOrganizations, privateRunDirectory, socketIn } from './room.ts';

export interface EnginesOptions {
  readonly dataDirectory: string;
  readonly memoryLimitMb: number;
  readonly addressSpaceKb: number;
  readonly openEngines: number;
  readonly idleSeconds: number;
  readonly threads: number;
  readonly logger: Logger;
}

export interface EngineUse {
  readonly channel: Channel;
  readonly release: () => void;
}

/** One of `openEngines`; not taken while its slot waits for another one's. */
interface Place {
  taken: boolean;
}

interface Slot {
  readonly opening: Promise<EngineProcess>;
  readonly place: Place;
  active: number;
  lastUsed: number;
  /** How often, without a long pause; since when, and the longest of the short ones. */
  uses: number;
  since: number;
  longestPauseMs: number;
  /** What it cost to start is not spent for a single query. */
  keptUntil: number;
}

/** Unused for so long, an engine ends before those that are used all the time. */
const pauseMs = 30_000;
/** The same at twice the longest of its pauses, where it was used for so long that they tell. */
const [observedMs, shortestMs] = [10_000, 1_000];
/** So many times as long as an engine took to start it is kept, and so long at most. */
const [keptTimes, longestKeptMs] = [2, 5_000];
/** An engine that is left tells nobody. */
const seekMs = 200;
/** How long a load waits for an engine: where more organizations send than engines may be open, each has its turn. */
export const loadPatienceMs = 100_000;

/** How long a file that could not be opened is not tried again. */
const failureMs = 2_000;
/** How long one more organization waits while all engines work. */
const patienceMs = 10_000;

/**
 * The engines this process is connected to. Of all on the data directory there are at most so many; the longest unused ends
 * first.
 */
export class Engines {
  readonly #options: EnginesOptions;
  readonly #slots = new Map<OrganizationId, Slot>();
  readonly #failures = new Map<OrganizationId, { readonly error: Error; readonly until: number }>();
  readonly #leaving = new Set<Promise<void>>();
  /** Who waits for an engine to be unused; each is told of one that ends, first come first served. */
  readonly #waiting = new Set<(room: Promise<void>) => void>();
  #runDirectory: string | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #seeker: NodeJS.Timeout | undefined;

  constructor(options: EnginesOptions) {
    this.#options = options;
  }

  start(): void {
    const { dataDirectory, idleSeconds } = this.#options;
    mkdirSync(join(dataDirectory, 'telemetry'), { recursive: true, mode: 0o700 });
    this.#runDirectory = privateRunDirectory(dataDirectory);
    this.#sweeper ??= setInterval(() => this.#sweep(), Math.min(idleSeconds * 500, 30_000)).unref();
  }

  get started(): boolean {
    return this.#runDirectory !== undefined;
  }

  get open(): number {
    return this.#slots.size;
  }

  get most(): number {
    return this.#options.openEngines;
  }

  has(organizationId: OrganizationId): boolean {
    return this.#slots.get(organizationId)?.place.taken === true;
  }

  /** A connection to the organization's engine; call `release` when done with it. */
  async acquire(organizationId: OrganizationId, waitMs = patienceMs): Promise<EngineUse> {
    const slot = this.#slot(organizationId, waitMs);
    slot.active += 1;
    const now = Date.now();
    const pause = slot.active > 1 ? 0 : now - slot.lastUsed;
    const isLong = pause > pauseMs;
    if (isLong) slot.since = now;
    slot.longestPauseMs = isLong ? 0 : Math.max(slot.longestPauseMs, pause);
    slot.uses = isLong ? 1 : slot.uses + 1;
    let released = false;
    const release = () => {
      if (released) return;
      released = true;
      slot.active -= 1;
      slot.lastUsed = Date.now();
      if (slot.active === 0 && this.#waiting.size > 0) this.#seek();
    };
    try {
      const { channel } = await slot.opening;
      if (channel.isOpen) return { channel, release };
    } catch (error) {
      this.#giveUp(organizationId, slot);
      release();
      throw this.#failed(organizationId, error);
    }
    // It ended since: the next one takes its place.
    release();
    if (this.#slots.get(organizationId) === slot) this.#slots.delete(organizationId);
    return await this.acquire(organizationId, waitMs);
  }

  /** Closes every connection; engines without other users end. */
  async stop(): Promise<void> {
    clearInterval(this.#sweeper);
    clearInterval(this.#seeker);
    this.#sweeper = this.#seeker = undefined;
    this.#runDirectory = undefined;
    for (const organizationId of this.#slots.keys()) void this.#leave(organizationId);
    for (const take of this.#waiting) take(Promise.resolve());
    await Promise.all(this.#leaving);
  }

  #slot(organizationId: OrganizationId, waitMs: number): Slot {
    const known = this.#slots.get(organizationId);
    if (known !== undefined) return known;
    const failure = this.#failures.get(organizationId);
    if (failure !== undefined && Date.now() < failure.until) throw failure.error;
    this.#failures.delete(organizationId);
    const place: Place = { taken: true };
    const room = this.#placesTaken() < this.#options.openEngines ? undefined : this.#makeRoom(place, waitMs);
    const since = Date.now();
    const opening = this.#open(organizationId, room);
    const slot: Slot = { opening, place, active: 0, lastUsed: since, uses: 0, since, longestPauseMs: 0, keptUntil: 0 };
    opening.then(
      ({ startedMs }) => (slot.keptUntil = Date.now() + Math.min(keptTimes * startedMs, longestKeptMs)),
      // Callers that acquire it get the failure.
      () => {},
    );
    this.#slots.set(organizationId, slot);
    return slot;
  }

  /** Who waits for a place has none: counted, those who wait would wait for each other. */
  #placesTaken(): number {
    let taken = 0;
    for (const { place } of this.#slots.values()) if (place.taken) taken += 1;
    return taken;
  }

  /** Resolves when the one that made room has ended. */
  #makeRoom(place: Place, waitMs: number): Promise<void> {
    // Earlier waiters go first.
    const chosen = this.#waiting.size > 0 ? undefined : this.#leastWanted();
    return chosen === undefined ? this.#waitForRoom(place, waitMs) : this.#leave(chosen);
  }

  /**
   * One that has been left, else the one that was used least often; undefined where all are busy. By the longest unused alone,
   * organizations that send in turns would end each other's engines all the time.
   */
  #leastWanted(): OrganizationId | undefined {
    const taken = [...this.#slots].filter(([, { place }]) => place.taken);
    const uses = taken.map(([, slot]) => slot.uses).toSorted((a, b) => a - b);
    const quarter = uses[Math.ceil(this.#options.openEngines / 4) - 1] ?? Infinity;
    const idle = taken.filter(([, slot]) => slot.active === 0 && !isBusy(slot, quarter));
    const [chosen] = idle.toSorted(([, one], [, other]) => {
      const [left, right] = [one, other].map((slot) => (isLeft(slot) ? 0 : slot.uses));
      return (left ?? 0) - (right ?? 0) || one.lastUsed - other.lastUsed;
    });
    return chosen?.[0];
  }

  #waitForRoom(place: Place, waitMs: number): Promise<void> {
    place.taken = false;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const take = (room: Promise<void>): void => {
      clearTimeout(timer);
      this.#waiting.delete(take);
      place.taken = true;
      resolve(room);
    };
    const timer = setTimeout(() => {
      this.#waiting.delete(take);
      reject(tooManyOrganizations());
    }, waitMs).unref();
    this.#waiting.add(take);
    this.#seeker ??= setInterval(() => this.#seek(), seekMs).unref();
    return promise;
  }

  /** The longest waiters get the places that are wanted least. */
  #seek(): void {
    for (;;) {
      const chosen = this.#waiting.size > 0 ? this.#leastWanted() : undefined;
      if (chosen === undefined) break;
      void this.#vacate(chosen);
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#seeker);
    this.#seeker = undefined;
  }

  /** Opening failed: the longest waiter gets the slot at once, since no engine has to end first. */
  #giveUp(organizationId: OrganizationId, slot: Slot): void {
    if (this.#slots.get(organizationId) !== slot) return;
    this.#slots.delete(organizationId);
    const [take] = this.#waiting;
    if (slot.place.taken) take?.(Promise.resolve());
  }

  /** With its file. The engine ends, unless another process still uses it. */
  async remove(organizationId: OrganizationId): Promise<void> {
    await this.#vacate(organizationId);
    await rm(join(this.#options.dataDirectory, 'telemetry', organizationId), { recursive: true, force: true });
  }

  fileOf(organizationId: OrganizationId): string {
    return join(this.#options.dataDirectory, 'telemetry', organizationId, 'telemetry.duckdb');
  }

  async #open(organizationId: OrganizationId, room: Promise<void> | undefined): Promise<EngineProcess> {
    await room;
    const engine = await this.#connect(organizationId);
    engine.channel.leave = () => {
      const slot = this.#slots.get(organizationId);
      if (slot?.active === 0) void this.#vacate(organizationId);
    };
    return engine;
  }

  async #connect(organizationId: OrganizationId): Promise<EngineProcess> {
    const { dataDirectory, memoryLimitMb, addressSpaceKb, openEngines, threads, logger } = this.#options;
    if (this.#runDirectory === undefined) {
      throw new SightlineError('telemetry_unavailable', 'The telemetry store is not running.');
    }
    const folder = join(dataDirectory, 'telemetry', organizationId);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return await connectEngine({
      settings: {
        socket: socketIn(this.#runDirectory, organizationId),
        file: this.fileOf(organizationId),
        temporary: join(folder, 'tmp'),
        memoryLimitMb,
        threads,
        seats: { folder: join(this.#runDirectory, 'seats'), count: openEngines },
      },
      addressSpaceKb,
      compileCache: compileCache(this.#runDirectory),
      room: createRoom(this.#runDirectory, openEngines, () => this.started),
      logger: logger.child({ organizationId }),
    });
  }

  #failed(organizationId: OrganizationId, error: unknown): Error {
    if (error instanceof SightlineError) return error;
    const file = `telemetry/${organizationId}/telemetry.duckdb`;
    this.#options.logger.error({ organizationId, file, error }, 'the telemetry file cannot be opened');
    const failure = notOpened(file, error);
    this.#failures.set(organizationId, { error: failure, until: Date.now() + failureMs });
    return failure;
  }

  /** The longest waiter has the place as soon as the engine has ended. */
  #vacate(organizationId: OrganizationId): Promise<void> {
    const isTaken = this.#slots.get(organizationId)?.place.taken === true;
    const leaving = this.#leave(organizationId);
    const [take] = this.#waiting;
    if (isTaken) take?.(leaving);
    return leaving;
  }

  async #leave(organizationId: OrganizationId): Promise<void> {
    const slot = this.#slots.get(organizationId);
    if (slot === undefined) return;
    this.#slots.delete(organizationId);
    const leaving = letGo(slot.opening).finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
    await leaving;
  }

  #sweep(): void {
    const before = Date.now() - this.#options.idleSeconds * 1_000;
    for (const [organizationId, slot] of this.#slots) {
      if (slot.active > 0 || slot.lastUsed >= before) continue;
      void this.#vacate(organizationId);
    }
  }
}

/** Unused for longer than its pauses let expect: that it was used often says nothing any more. */
function isLeft({ since, lastUsed, longestPauseMs }: Slot): boolean {
  const usual = lastUsed - since < observedMs ? pauseMs : Math.max(shortestMs, 2 * longestPauseMs);
  return Date.now() - lastUsed > Math.min(pauseMs, usual);
}

/** Just started, or used more often than the least used quarter. */
function isBusy(slot: Slot, quarter: number): boolean {
  return !isLeft(slot) && (Date.now() < slot.keptUntil || slot.uses > quarter);
}

/** The gateway's own, which its start has filled; else, where that cannot be written, one beside the sockets. */
function compileCache(runDirectory: string): string {
  const own = process.env['NODE_COMPILE_CACHE'];
  return own !== undefined && getCompileCacheDir() !== undefined ? resolve(own) : join(runDirectory, 'compile-cache');
}
