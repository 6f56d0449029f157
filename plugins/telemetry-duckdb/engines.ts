import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SightlineError, type Logger, type OrganizationId } from '../../src/contract/index.ts';
import type { Channel } from './channel.ts';
import { connectEngine, EngineUnreadable, type EngineProcess } from './engine-process.ts';
import type { Released } from './protocol.ts';

export interface EnginesOptions {
  readonly dataDirectory: string;
  readonly memoryLimitMb: number;
  readonly addressSpaceKb: number;
  readonly openEngines: number;
  readonly idleSeconds: number;
  readonly threads: number;
  readonly logger: Logger;
}

/** A connection, held until it is released. */
export interface EngineUse {
  readonly channel: Channel;
  readonly release: () => void;
}

interface Slot {
  readonly opening: Promise<EngineProcess>;
  active: number;
  lastUsed: number;
}

/** How long a file that could not be opened is not tried again. */
const failureMs = 2_000;
/** How long a process that was let go may take to end. */
const endMs = 5_000;

/** The engines this gateway is connected to: at most so many, the longest unused leaves first. */
export class Engines {
  readonly #options: EnginesOptions;
  readonly #slots = new Map<OrganizationId, Slot>();
  readonly #failures = new Map<OrganizationId, { readonly error: Error; readonly until: number }>();
  readonly #leaving = new Set<Promise<void>>();
  #runDirectory: string | undefined;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(options: EnginesOptions) {
    this.#options = options;
  }

  /** Makes the folders. */
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

  /** A connection to the organization's engine; call `release` when done with it. */
  async acquire(organizationId: OrganizationId): Promise<EngineUse> {
    const slot = this.#slot(organizationId);
    slot.active += 1;
    let released = false;
    const release = () => {
      if (released) return;
      released = true;
      slot.active -= 1;
      slot.lastUsed = Date.now();
    };
    try {
      const { channel } = await slot.opening;
      if (channel.isOpen) return { channel, release };
    } catch (error) {
      release();
      if (this.#slots.get(organizationId) === slot) this.#slots.delete(organizationId);
      throw this.#failed(organizationId, error);
    }
    // It ended since: the next one takes its place.
    release();
    if (this.#slots.get(organizationId) === slot) this.#slots.delete(organizationId);
    return await this.acquire(organizationId);
  }

  /** Closes every connection; engines that nobody else uses end. */
  async stop(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
    this.#runDirectory = undefined;
    for (const organizationId of this.#slots.keys()) this.#leave(organizationId);
    await Promise.all(this.#leaving);
  }

  #slot(organizationId: OrganizationId): Slot {
    const known = this.#slots.get(organizationId);
    if (known !== undefined) return known;
    const failure = this.#failures.get(organizationId);
    if (failure !== undefined && Date.now() < failure.until) throw failure.error;
    this.#failures.delete(organizationId);
    if (this.#slots.size >= this.#options.openEngines) this.#makeRoom();
    const slot: Slot = { opening: this.#connect(organizationId), active: 0, lastUsed: Date.now() };
    // Whoever acquires it hears of a failure.
    slot.opening.catch(() => {});
    this.#slots.set(organizationId, slot);
    return slot;
  }

  #makeRoom(): void {
    let oldest: OrganizationId | undefined;
    let lastUsed = Infinity;
    for (const [organizationId, slot] of this.#slots) {
      if (slot.active === 0 && slot.lastUsed < lastUsed) [oldest, lastUsed] = [organizationId, slot.lastUsed];
    }
    if (oldest === undefined) {
      throw new SightlineError('telemetry_unavailable', 'Too many organizations are being queried at once.', {
        hint: 'Send the query again in a few seconds.',
        retryAfterSeconds: 2,
      });
    }
    this.#leave(oldest);
  }

  /** Where the organization's database is, whether it exists or not. */
  fileOf(organizationId: OrganizationId): string {
    return join(this.#options.dataDirectory, 'telemetry', organizationId, 'telemetry.duckdb');
  }

  async #connect(organizationId: OrganizationId): Promise<EngineProcess> {
    const { dataDirectory, memoryLimitMb, addressSpaceKb, threads, logger } = this.#options;
    if (this.#runDirectory === undefined) {
      throw new SightlineError('telemetry_unavailable', 'The telemetry store is not running.');
    }
    const folder = join(dataDirectory, 'telemetry', organizationId);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return await connectEngine({
      settings: {
        socket: join(this.#runDirectory, `${organizationId}.sock`),
        file: this.fileOf(organizationId),
        temporary: join(folder, 'tmp'),
        memoryLimitMb,
        threads,
      },
      addressSpaceKb,
      compileCache: join(this.#runDirectory, 'compile-cache'),
      logger: logger.child({ organizationId }),
    });
  }

  #failed(organizationId: OrganizationId, error: unknown): Error {
    if (error instanceof SightlineError) return error;
    const failure = this.#explain(organizationId, error);
    this.#failures.set(organizationId, { error: failure, until: Date.now() + failureMs });
    return failure;
  }

  #explain(organizationId: OrganizationId, cause: unknown): SightlineError {
    const { logger } = this.#options;
    const file = `telemetry/${organizationId}/telemetry.duckdb`;
    logger.error({ organizationId, file, err: cause }, 'the telemetry file cannot be opened');
    if (cause instanceof EngineUnreadable && cause.full) {
      return new SightlineError('telemetry_full', `There is no space left to open ${file}.`, { cause });
    }
    if (cause instanceof EngineUnreadable) {
      return new SightlineError('telemetry_unavailable', `The telemetry file ${file} cannot be read.`, {
        hint: 'Whoever runs this service must look at it: the file is damaged or not accessible.',
        cause,
      });
    }
    return new SightlineError('telemetry_unavailable', 'The telemetry engine does not start.', {
      retryAfterSeconds: 2,
      cause,
    });
  }

  #leave(organizationId: OrganizationId): void {
    const slot = this.#slots.get(organizationId);
    if (slot === undefined) return;
    this.#slots.delete(organizationId);
    const leaving = letGo(slot).finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }

  #sweep(): void {
    const before = Date.now() - this.#options.idleSeconds * 1_000;
    for (const [organizationId, slot] of this.#slots) {
      if (slot.active === 0 && slot.lastUsed < before) this.#leave(organizationId);
    }
  }
}

async function letGo(slot: Slot): Promise<void> {
  let engine: EngineProcess;
  try {
    engine = await slot.opening;
  } catch {
    return;
  }
  const { channel, child } = engine;
  const shared = await channel
    .request<Released>({ op: 'release' }, { timeoutMs: 1_000 })
    .then(({ header }) => header.shared)
    .catch(() => false);
  channel.close();
  await channel.closed;
  if (child === undefined || shared) return;
  await ended(child);
}

async function ended(child: NonNullable<EngineProcess['child']>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => {
    const killer = setTimeout(() => child.kill('SIGKILL'), endMs);
    child.ref();
    child.once('exit', () => {
      clearTimeout(killer);
      resolve();
    });
  });
}

/** Where sockets lie: `run` in the data directory, unless a socket's path there would be longer than the system allows. */
function privateRunDirectory(dataDirectory: string): string {
  const beside = join(dataDirectory, 'run');
  const longest = join(beside, `org_${'0'.repeat(26)}.sock`);
  if (Buffer.byteLength(longest) <= 100) {
    mkdirSync(beside, { recursive: true, mode: 0o700 });
    return beside;
  }
  // The same for every gateway on this data directory, so that they find each other's engines.
  const name = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 16);
  const directory = join(tmpdir(), `sightline-${name}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = lstatSync(directory);
  // Anybody can make a folder of that name there first.
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) {
    throw new Error(`${directory} is not a private folder of this user`);
  }
  return directory;
}
