import type { OrganizationId, SightlineError } from '../../src/contract/core/index.ts';
import {
  commonFailures,
  noSpace,
  told,
  type LogPosition,
  type TelemetryHost,
  type TelemetryLoad,
  type TelemetrySink,
} from '../../src/contract/telemetry/index.ts';
import { EngineFailure, type Channel } from './channel.ts';
import { loadPatienceMs, type Engines } from './engines.ts';
import { explain } from './failures.ts';
import type { Committed, Newest, Retained } from './protocol.ts';

const committedTimeoutMs = 30_000;
const loadTimeoutMs = 120_000;
const retainTimeoutMs = 600_000;
const senderMs = 60_000;
const warnMs = 600_000;
const scarceMs = 10_000;
/** Of one core, what an organization's load takes; a third of the core is left for it. */
const msEach = 20;
/** For the operator. */
export const crowded =
  'more organizations send telemetry at once than engines may be open, so it can be queried later; raise telemetry.openEngines, or use ClickHouse or PostgreSQL';

export class DuckdbSink implements TelemetrySink {
  readonly #engines: Engines;
  readonly #host: TelemetryHost;

  /** When each organization last sent. */
  readonly #sending = new Map<OrganizationId, number>();
  #warnedAt = -Infinity;

  constructor(engines: Engines, host: TelemetryHost) {
    this.#engines = engines;
    this.#host = host;
  }

  async committed(organizationId: OrganizationId, log: string): Promise<LogPosition | undefined> {
    const { header } = await this.#with(organizationId, (channel) =>
      channel.request<Committed>({ op: 'committed', log }, { timeoutMs: committedTimeoutMs }),
    );
    return header.position;
  }

  /** Organizations that sent in the last minute. */
  get senders(): number {
    const before = performance.now() - senderMs;
    for (const [id, at] of this.#sending) if (at < before) this.#sending.delete(id);
    return this.#sending.size;
  }

  get atOnce(): number {
    return this.#engines.most;
  }

  /** Small loads of many organizations cost more than their rows; to open an engine for one costs most. */
  gatherMs(organizationId: OrganizationId): number {
    this.#sending.set(organizationId, performance.now());
    const { senders } = this;
    const { most } = this.#engines;
    if (senders > most && performance.now() - this.#warnedAt > warnMs) {
      this.#warnedAt = performance.now();
      this.#host.logger.warn({ senders, openEngines: most }, crowded);
    }
    if (senders > most && !this.#engines.has(organizationId)) return scarceMs;
    return Math.max(1_000, Math.min(senders * msEach, scarceMs));
  }

  async hold(organizationId: OrganizationId): Promise<() => void> {
    try {
      return (await this.#engines.acquire(organizationId, loadPatienceMs)).release;
    } catch (error) {
      throw this.#explain(organizationId, error);
    }
  }

  async load(load: TelemetryLoad, signal: AbortSignal): Promise<void> {
    const { organizationId, log, batches, upTo } = load;
    const lengths = batches.map((batch) => batch.byteLength);
    await this.#with(organizationId, (channel) =>
      channel.request(
        { op: 'load', log, segment: upTo.segment, offset: upTo.offset, lengths },
        { signal, timeoutMs: loadTimeoutMs, payload: batches },
      ),
    );
  }

  async newest(organizationId: OrganizationId, signal: AbortSignal): Promise<Date | undefined> {
    const { header } = await this.#with(organizationId, (channel) =>
      channel.request<Newest>({ op: 'newest' }, { signal, timeoutMs: retainTimeoutMs }),
    );
    return header.ms === undefined ? undefined : new Date(header.ms);
  }

  async retain(organizationId: OrganizationId, olderThan: Date, signal: AbortSignal): Promise<number> {
    const { header } = await this.#with(organizationId, (channel) =>
      channel.request<Retained>(
        { op: 'retain', beforeMs: olderThan.getTime() },
        { signal, timeoutMs: retainTimeoutMs },
      ),
    );
    return header.deleted;
  }

  async #with<T>(organizationId: OrganizationId, work: (channel: Channel) => Promise<T>): Promise<T> {
    const { channel, release } = await this.#engines.acquire(organizationId, loadPatienceMs);
    try {
      return await work(channel);
    } catch (error) {
      throw this.#explain(organizationId, error);
    } finally {
      release();
    }
  }

  #explain(organizationId: OrganizationId, error: unknown): SightlineError {
    if (error instanceof EngineFailure && error.failure.kind === 'bad_batch') {
      return told(commonFailures.badBatch, error);
    }
    if (error instanceof EngineFailure && error.failure.kind === 'engine') {
      const { message } = error.failure;
      this.#host.logger.error({ organizationId, error }, 'telemetry could not be written');
      const isFull = /No space left on device|Disk quota exceeded|File too large/i.test(message);
      return isFull ? noSpace('this service', error) : told(commonFailures.notWritten, error);
    }
    return explain(error, this.#host.sql);
  }
}
