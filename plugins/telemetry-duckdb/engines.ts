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
  /** How often, without a long pause. */
  uses: number;
}

/** Unused for so long, an engine ends before those that are used all the time. */
const pauseMs = 30_000;
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
    slot.uses = Date.now() - slot.lastUsed > pauseMs ? 1 : slot.uses + 1;
    let released = false;
    const release = () => {
      if (released) return;
      released = true;
      slot.active -= 1;
      slot.lastUsed = Date.now();
      if (slot.active === 0) this.#offer(organizationId, slot);
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
    this.#sweeper = undefined;
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
    const slot: Slot = { opening: this.#open(organizationId, room), place, active: 0, lastUsed: Date.now(), uses: 0 };
    // Callers that acquire it get the failure.
    slot.opening.catch(() => {});
    this.#slots.set(organizationId, slot);
    return slot;
  }

  /** Who waits for a place has none: counted, those who wait would wait for each other. */
  #placesTaken(): number {
    let taken = 0;
    for (const { place } of this.#slots.values()) if (place.taken) taken += 1;
    return taken;
  }

  /**
   * Resolves when the one that made room has ended: one that was not used for a while, else the one that was used least
   * often. By the longest unused alone, organizations that send in turns would end each other's engines all the time.
   */
  #makeRoom(place: Place, waitMs: number): Promise<void> {
    const before = Date.now() - pauseMs;
    const idle = [...this.#slots].filter(([, { active }]) => active === 0);
    const [chosen] = idle.toSorted(([, one], [, other]) => {
      const [left, right] = [one, other].map(({ lastUsed, uses }) => (lastUsed < before ? 0 : uses));
      return (left ?? 0) - (right ?? 0) || one.lastUsed - other.lastUsed;
    });
    return chosen === undefined || this.#isBusy(chosen[1]) ? this.#waitForRoom(place, waitMs) : this.#leave(chosen[0]);
  }

  /** Among the three quarters that are used most often, when the others are used less. */
  #isBusy({ uses, lastUsed }: Slot): boolean {
    if (Date.now() - lastUsed > pauseMs) return false;
    let less = 0;
    for (const slot of this.#slots.values()) if (slot.place.taken && slot.uses < uses) less += 1;
    return less >= Math.ceil(this.#options.openEngines / 4);
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
    return promise;
  }

  /** An idle slot goes to the longest waiter, unless it is wanted again in a moment and others are not. */
  #offer(organizationId: OrganizationId, slot: Slot): void {
    const [take] = this.#waiting;
    if (take === undefined || this.#slots.get(organizationId) !== slot || this.#isBusy(slot)) return;
    take(this.#leave(organizationId));
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
    await this.#leave(organizationId);
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
      if (slot?.active === 0) void this.#leave(organizationId);
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
      if (slot.active === 0 && slot.lastUsed < before) void this.#leave(organizationId);
    }
  }
}

/** The gateway's own, which its start has filled; else, where that cannot be written, one beside the sockets. */
function compileCache(runDirectory: string): string {
  const own = process.env['NODE_COMPILE_CACHE'];
  return own !== undefined && getCompileCacheDir() !== undefined ? resolve(own) : join(runDirectory, 'compile-cache');
}
