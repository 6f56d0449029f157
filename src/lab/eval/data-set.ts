import { statSync } from 'node:fs';
import { z } from 'zod';
import { newId, type OrganizationId, SightlineError, toId } from '../../contract/core/index.ts';
import type { TableName, Telemetry } from '../../contract/telemetry/index.ts';
import { openCache, openLaboratory, type Laboratory } from './laboratory.ts';
import { dataFiles, type Fault, readFaults, type Stretch, windowOf } from './faults.ts';

/** One labelled question: what the agent is asked, and what it should answer. */
export interface EvalCase {
  readonly name: string;
  /** Of fault; `none` where nothing is wrong. */
  readonly type: string;
  /** The service with the cause; undefined where nothing is wrong. */
  readonly service: string | undefined;
  readonly organizationId: OrganizationId;
  readonly question: string;
  /** "Now" for the agent. */
  readonly askedAt: Date;
  readonly onset: Date;
}

export interface EvalResult extends Pick<EvalCase, 'name' | 'type' | 'service'> {
  /** Services named, most likely first; where nothing stands out, the one to look at first. */
  readonly named: readonly string[];
  readonly blames: boolean;
  /** What a reader of the answer sees: the service that it blames, and after it the others that it says to look at. */
  readonly shown: readonly string[];
  readonly saysNothingWrong: boolean;
  /** Claims that stand against the evidence that they cite. */
  readonly contradictions: readonly string[];
  readonly seconds: number;
  readonly queries: number;
  /** How far the onset found is from the true one; undefined where none was named. */
  readonly onsetErrorSeconds: number | undefined;
  readonly failure?: string;
}

export interface DataSetOptions {
  readonly folder: string;
  /** Asks with a window alone, in place of the time of injection. */
  readonly window: boolean;
  /** Moves the windows' starts. */
  readonly seed: number;
}

export interface Prepared {
  readonly laboratory: Laboratory;
  readonly cases: readonly EvalCase[];
}

const minute = 60_000;
/** How long after a fault it is asked about, unless the file says until when it was recorded, or the next one comes first. */
const askedAfter = 3 * minute;
/** What the data sets call their rows from before any fault. */
const faultFreePhase = 'construct_data';
const mostReferences = 3;

/** Loads a folder laid out as `spans.parquet`, `logs.parquet`, `metrics.parquet` and `faults.json`; once, and then kept. */
export async function prepareDataSet({ folder, window, seed }: DataSetOptions): Promise<Prepared> {
  const faults = readFaults(folder);
  const files = dataFiles(folder);
  const cache = openCache(['1', ...Object.values(files).flatMap(identity)]);
  const laboratory = await openLaboratory(cache.directory);
  try {
    let data = cache.read(keptShape);
    if (data === undefined) {
      data = await load(laboratory.telemetry, files);
      cache.write(data);
    }
    const { organizationId, stretches } = data;
    const lastSeen = new Date(Math.max(...stretches.map(({ end }) => end.getTime())));
    const faultFree = faultFreeOf(stretches);
    const cases = faults.map((fault, index): EvalCase => {
      const told = window ? windowOf(faults, index, lastSeen, seed) : undefined;
      const recorded = fault.end ?? new Date(fault.injectedAt.getTime() + askedAfter);
      const asked = told ?? { start: fault.injectedAt, end: recorded };
      const apart = faultFree.filter(({ start, end }) => end <= asked.start || start >= asked.end);
      const next = faults[index + 1]?.injectedAt.getTime() ?? Infinity;
      return {
        name: `${index + 1}`,
        type: fault.type,
        service: fault.service,
        organizationId,
        question: questionOf(fault, told, nearest(apart, fault.injectedAt)),
        askedAt: told?.end ?? new Date(Math.min(recorded.getTime(), next)),
        onset: fault.injectedAt,
      };
    });
    return { laboratory, cases };
  } catch (error) {
    await laboratory.close();
    throw error;
  }
}

const keptShape = z.object({
  organizationId: z.string().transform((id) => toId('org', id)),
  stretches: z.array(z.object({ table: z.string(), phase: z.string(), start: z.coerce.date(), end: z.coerce.date() })),
});
type Loaded = z.output<typeof keptShape>;

function identity(path: string): readonly string[] {
  const { size, mtimeMs } = statSync(path);
  return [path, String(size), String(mtimeMs)];
}

async function load(telemetry: Telemetry, files: Readonly<Partial<Record<TableName, string>>>): Promise<Loaded> {
  if (telemetry.importParquet === undefined) throw new SightlineError('internal', 'The telemetry reads no Parquet.');
  const organizationId: OrganizationId = newId('org');
  return { organizationId, stretches: [...(await telemetry.importParquet(organizationId, files))] };
}

/** Of spans, else of logs, else of metrics: one signal's stretches stand for all. */
function faultFreeOf(stretches: Loaded['stretches']): readonly Stretch[] {
  const free = stretches.filter(({ phase }) => phase === faultFreePhase);
  for (const table of ['spans', 'logs', 'metrics']) {
    const own = free.filter((stretch) => stretch.table === table);
    if (own.length > 0) return own;
  }
  return [];
}

function nearest(stretches: readonly Stretch[], at: Date): readonly Stretch[] {
  const distance = ({ start }: Stretch): number => Math.abs(start.getTime() - at.getTime());
  return stretches.toSorted((a, b) => distance(a) - distance(b)).slice(0, mostReferences);
}

function questionOf({ injectedAt }: Fault, told: Stretch | undefined, references: readonly Stretch[]): string {
  const when = told ? `went wrong between ${text(told, ' and ')}` : `has been wrong since ${injectedAt.toISOString()}`;
  if (references.length === 0) return `Something ${when}. What is the cause?`;
  const compared = references.map((stretch) => text(stretch, ' to ')).join(' and with ');
  return `Something ${when}. What is the cause? Compare with ${compared}.`;
}

function text({ start, end }: Stretch, between: string): string {
  return `${start.toISOString()}${between}${end.toISOString()}`;
}
