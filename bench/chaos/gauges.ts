import { residentMb } from '../support/process.ts';
import type { Outages } from './outages.ts';
import { liveMb } from './live-memory.ts';
import { spared, type Stage } from './stage.ts';

const everyMs = 1_000;
/** A collection holds the gateway up. */
const liveEvery = 5;

interface Sample {
  /** Seconds since the beginning. */
  readonly at: number;
  readonly value: number;
}

export interface Course {
  /** Medians of the first and the last third, after the warm-up. */
  readonly baseline: number;
  readonly end: number;
  readonly highest: number;
  /** By minute, of the line through the samples that least depends on single ones. */
  readonly slope: number;
  readonly minutes: number;
}

/** Memory of the replica that is never ended, and connections to the database, once a second where nothing is out of order. */
export class Gauges {
  readonly #stage: Stage;
  readonly #outages: Outages;
  readonly #begun = performance.now();
  readonly #resident: Sample[] = [];
  readonly #live: Sample[] = [];
  readonly #storage: Sample[] = [];
  readonly #telemetry: Sample[] = [];
  #turn = 0;
  #looking = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  constructor(stage: Stage, outages: Outages) {
    this.#stage = stage;
    this.#outages = outages;
    let busy = false;
    this.#timer = setInterval(() => {
      if (busy) return;
      busy = true;
      this.#looking = this.#look().finally(() => (busy = false));
    }, everyMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  get resident(): Course {
    return courseOf(this.#resident);
  }

  /** What is still held after a collection. */
  get live(): Course {
    return courseOf(this.#live);
  }

  get storageConnections(): Course {
    return courseOf(this.#storage);
  }

  get telemetryConnections(): Course {
    return courseOf(this.#telemetry);
  }

  async #look(): Promise<void> {
    const at = (performance.now() - this.#begun) / 1_000;
    const { pid, output } = this.#stage.replicas[spared] ?? {};
    if (pid === undefined || output === undefined) return;
    this.#resident.push({ at, value: (await residentMb(pid)).now });
    if (this.#outages.during(performance.now(), performance.now(), undefined)) return;
    this.#turn += 1;
    const live = this.#turn % liveEvery === 0 ? await liveMb(output).catch(() => undefined) : undefined;
    if (live !== undefined) this.#live.push({ at, value: live });
    const connections = await this.#stage.database.connections().catch(() => undefined);
    if (connections === undefined) return;
    this.#storage.push({ at, value: connections.storage });
    this.#telemetry.push({ at, value: connections.telemetry });
  }
}

/** A fifth of the time, two minutes at most, is for the caches to fill. */
function courseOf(all: readonly Sample[]): Course {
  const length = all.at(-1)?.at ?? 0;
  const samples = all.filter(({ at }) => at >= Math.min(120, length / 5));
  const third = Math.ceil(samples.length / 3);
  const values = samples.map(({ value }) => value);
  return {
    baseline: median(values.slice(0, third)),
    end: median(values.slice(-third)),
    highest: Math.max(...all.map(({ value }) => value)),
    slope: slopeOf(samples) * 60,
    minutes: ((samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0)) / 60,
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** Theil and Sen's: the median of the slopes between every two. */
function slopeOf(samples: readonly Sample[]): number {
  const slopes = samples.flatMap((one, index) =>
    samples.slice(index + 1).map((other) => (other.value - one.value) / (other.at - one.at)),
  );
  return slopes.length === 0 ? 0 : median(slopes);
}
