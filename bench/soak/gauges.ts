import { readdir, readFile, readlink } from 'node:fs/promises';
import { findProcesses, residentMb } from '../support/process.ts';
import type { Stage } from './stage.ts';

const everyMs = 2_000;

/** Medians of the first and the last third after the warm-up, and the highest of all. */
export interface Course {
  readonly begin: number;
  readonly end: number;
  readonly highest: number;
}

interface Sample {
  readonly at: number;
  readonly memoryMb: number;
  readonly handles: number;
  readonly connections: number;
  readonly engines: number;
}

/** What the gateway's process has, every two seconds. */
export class Gauges {
  readonly #samples: Sample[] = [];
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout;
  #looking = Promise.resolve();

  constructor(stage: Stage) {
    let looks = false;
    this.#timer = setInterval(() => {
      if (looks) return;
      looks = true;
      this.#looking = this.#look(stage).finally(() => (looks = false));
    }, everyMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** A fifth of the time, ten minutes at most, is for the caches to fill. */
  course(of: Exclude<keyof Sample, 'at'>): Course {
    const length = this.#samples.at(-1)?.at ?? 0;
    const values = this.#samples.filter(({ at }) => at >= Math.min(600, length / 5)).map((sample) => sample[of]);
    const third = Math.ceil(values.length / 3);
    return {
      begin: median(values.slice(0, third)),
      end: median(values.slice(-third)),
      highest: Math.max(...this.#samples.map((sample) => sample[of])),
    };
  }

  /** Medians of ten equal parts of the time: whether what grew was still growing. */
  tenths(of: Exclude<keyof Sample, 'at'>): readonly number[] {
    const part = ((this.#samples.at(-1)?.at ?? 0) + 1) / 10;
    return Array.from({ length: 10 }, (_, index) =>
      median(this.#samples.filter(({ at }) => Math.floor(at / part) === index).map((sample) => sample[of])),
    );
  }

  async #look({ pid, url, dataDirectory }: Stage): Promise<void> {
    const open = await openOf(pid);
    const clients = await socketsAt(pid, Number(new URL(url).port));
    const engines = await engineProcesses(dataDirectory);
    this.#samples.push({
      at: (performance.now() - this.#began) / 1_000,
      memoryMb: (await residentMb(pid)).now,
      // Beside sockets and the ingest logs, of which each organization that ever sent has one.
      handles: open.filter((target) => !target.startsWith('socket:') && !target.includes('/ingest/')).length,
      // Those that clients opened are as many as the load has under way.
      connections: open.filter((target) => target.startsWith('socket:') && !clients.has(target)).length,
      engines: engines.length,
    });
  }
}

/**
 * Engines that had their file open at one moment: those that are there in both of two looks. One look alone takes a while, in
 * which an engine may end and the next one start; and a process that found all seats taken is no engine.
 */
async function engineProcesses(dataDirectory: string): Promise<readonly number[]> {
  const first = new Set(await withOpenFile(dataDirectory));
  return (await withOpenFile(dataDirectory)).filter((pid) => first.has(pid));
}

async function withOpenFile(dataDirectory: string): Promise<readonly number[]> {
  const pids = await findProcesses('engine/main', dataDirectory, '--max-old-space-size');
  const files = await Promise.all(pids.map((pid) => openOf(pid).catch(() => [])));
  return pids.filter((_, index) => files[index]?.some((target) => target.endsWith('/telemetry.duckdb')));
}

async function openOf(pid: number): Promise<readonly string[]> {
  const numbers = await readdir(`/proc/${pid}/fd`);
  // One that was closed meanwhile is nothing.
  return Promise.all(numbers.map((number) => readlink(`/proc/${pid}/fd/${number}`).catch(() => '')));
}

/** The sockets of a TCP port, as /proc/PID/fd names them. */
async function socketsAt(pid: number, port: number): Promise<ReadonlySet<string>> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const tables = await Promise.all(['tcp', 'tcp6'].map((table) => readFile(`/proc/${pid}/net/${table}`, 'utf8')));
  const rows = tables.flatMap((table) => table.split('\n')).map((row) => row.trim().split(/\s+/));
  return new Set(rows.filter(([, address]) => address?.endsWith(local)).map((row) => `socket:[${row[9]}]`));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
