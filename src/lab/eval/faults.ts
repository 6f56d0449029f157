import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';
import { tableNames, type TableName } from '../../contract/telemetry/index.ts';

const faultShape = z.object({
  injected_at: z.string(),
  service_name: z.string().min(1),
  fault_type: z.string().min(1),
  end: z.string().optional(),
  last: z.string().optional(),
});
const shape = z.array(faultShape).min(1);

export interface Fault {
  readonly injectedAt: Date;
  /** Until when it was recorded, where the file says so: `end`, exclusive, or `last`, the time of the last row. */
  readonly end?: Date;
  readonly service: string;
  readonly type: string;
}

/** `faults.json` of a data folder, earliest first; times without a zone are UTC. */
export function readFaults(folder: string): readonly Fault[] {
  const path = join(folder, 'faults.json');
  let parsed: z.infer<typeof shape>;
  try {
    parsed = shape.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new SightlineError('invalid_argument', `${path} is not a list of faults.`, {
      hint: 'It is a JSON array of objects with injected_at, service_name and fault_type.',
      cause,
    });
  }
  return parsed.map(readFault).toSorted((a, b) => a.injectedAt.getTime() - b.injectedAt.getTime());
}

function readFault({
  injected_at: at,
  service_name: service,
  fault_type: type,
  end,
  last,
}: z.infer<typeof faultShape>): Fault {
  const fault = { injectedAt: timeOf(at), service, type };
  if (end !== undefined) return { ...fault, end: timeOf(end) };
  return last === undefined ? fault : { ...fault, end: new Date(timeOf(last).getTime() + 1_000) };
}

function timeOf(text: string): Date {
  const zoned = /(?:z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`;
  const time = new Date(zoned.replace(' ', 'T'));
  if (Number.isNaN(time.getTime())) throw new SightlineError('invalid_argument', `faults.json: ${text} is not a time.`);
  return time;
}

/** The folder's Parquet files by table; a missing file is a signal that was not recorded. */
export function dataFiles(folder: string): Readonly<Partial<Record<TableName, string>>> {
  const found = tableNames.flatMap((table) => {
    const path = join(folder, `${table}.parquet`);
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? [[table, path] as const] : [];
  });
  if (found.length === 0) {
    throw new SightlineError('invalid_argument', `There is no data in ${folder}.`, {
      hint: 'It needs spans.parquet, logs.parquet or metrics.parquet, and faults.json.',
    });
  }
  return Object.fromEntries(found);
}

export interface Stretch {
  readonly start: Date;
  readonly end: Date;
}

const minute = 60_000;
/** What a fault leaves behind is over by then. */
const aftermath = 3 * minute;
const longestBefore = 15 * minute;
/** So much of the time before the fault stays in the window, however its start is moved. */
const leastBefore = minute;

/** From the fault before to the next. The seed moves the start, so that the middle tells nothing. */
export function windowOf(faults: readonly Fault[], index: number, lastSeen: Date, seed: number): Stretch {
  const at = timeAt(faults, index) ?? 0;
  const previous = timeAt(faults, index - 1);
  const earliest = Math.max(previous === undefined ? -Infinity : previous + aftermath, at - longestBefore);
  const latest = Math.max(earliest, at - leastBefore);
  const start = earliest + fraction(seed, index) * (latest - earliest);
  const end = timeAt(faults, index + 1) ?? Math.max(lastSeen.getTime(), at + longestBefore);
  return { start: new Date(Math.round(start)), end: new Date(end) };
}

function timeAt(faults: readonly Fault[], index: number): number | undefined {
  return faults[index]?.injectedAt.getTime();
}

/** 0 to 1, the same for the same seed and case (a round of splitmix32). */
function fraction(seed: number, index: number): number {
  let mixed = (seed * 0x9e3779b9 + (index + 1) * 0x85ebca6b) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}
