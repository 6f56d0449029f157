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
import type { Engines } from './engines.ts';
import { explain } from './failures.ts';
import type { Committed, Newest, Retained } from './protocol.ts';

const committedTimeoutMs = 30_000;
const loadTimeoutMs = 120_000;
const retainTimeoutMs = 600_000;

export class DuckdbSink implements TelemetrySink {
  readonly #engines: Engines;
  readonly #host: TelemetryHost;

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
    const { channel, release } = await this.#engines.acquire(organizationId);
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
