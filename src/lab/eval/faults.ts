import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';
import { tableNames, type TableName } from '../../contract/telemetry/index.ts';

const shape = z
  .array(z.object({ injected_at: z.string(), service_name: z.string().min(1), fault_type: z.string().min(1) }))
  .min(1);

export interface Fault {
  readonly injectedAt: Date;
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
  return parsed
    .map(({ injected_at: at, service_name: service, fault_type: type }) => ({ injectedAt: timeOf(at), service, type }))
    .toSorted((a, b) => a.injectedAt.getTime() - b.injectedAt.getTime());
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
