import { describe, expect, it } from '@jest/globals';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { score } from '../src/lab/eval/score.ts';
import type { EvalResult } from '../src/lab/eval/data-set.ts';
import { dataFiles, readFaults, windowOf } from '../src/lab/eval/faults.ts';
import { removeDirectory, temporaryDirectory } from './support/gateway.ts';

const at = (time: string): Date => new Date(`2026-03-01T${time}Z`);
const fault = (time: string) => ({ injectedAt: at(time), service: 'a', type: 't' });

function result(service: string | undefined, named: readonly string[], type = 't'): EvalResult {
  return {
    name: 'n',
    type,
    service,
    named,
    blames: named.length > 0,
    shown: named.slice(0, 1),
    saysNothingWrong: named.length === 0,
    contradictions: [],
    seconds: 1,
    queries: 2,
    onsetErrorSeconds: undefined,
  };
}

describe('the score', () => {
  it('is the share of faults whose service is among the first one, three, five', () => {
    const found = score([
      result('a', ['a']),
      result('a', ['b', 'c', 'a'], 'u'),
      result('a', ['b', 'c', 'd', 'e', 'a']),
      result('a', []),
    ]);
    expect(found).toMatchObject({ cases: 4, ac1: 0.25, ac3: 0.5, ac5: 0.75, visible_ac1: 0.25, visible_ac3: 0.25 });
    expect(found).toMatchObject({ nothing_wrong_of_faults: 1, contradictions: 0 });
    expect(found.by_type['u']).toMatchObject({ cases: 1, ac1: 0, ac3: 1, ac5: 1 });
  });

  it('counts quiet cases apart, and a failed one as none', () => {
    const found = score([result(undefined, []), result(undefined, ['a']), { ...result(undefined, []), failure: 'no' }]);
    expect(found).toMatchObject({ cases: 0, ac1: null, failed: 1 });
    expect(found.quiet).toEqual({
      cases: 3,
      nothing_wrong: 0.3333,
      by_type: { t: { cases: 3, nothing_wrong: 0.3333 } },
    });
  });
});

describe('the window around a fault', () => {
  const faults = [fault('10:00:00'), fault('10:08:00'), fault('11:00:00')];

  it('begins three minutes after the fault before, at most fifteen back, and ends at the next', () => {
    for (let seed = 0; seed < 50; seed += 1) {
      const near = windowOf(faults, 1, at('12:00:00'), seed);
      expect(near.start >= at('10:03:00') && near.start <= at('10:07:00')).toBe(true);
      expect(near.end).toEqual(at('11:00:00'));
      const far = windowOf(faults, 2, at('12:00:00'), seed);
      expect(far.start >= at('10:45:00') && far.start <= at('10:59:00')).toBe(true);
      expect(far.end).toEqual(at('12:00:00'));
    }
  });

  it('has another start for another seed, and the same for the same', () => {
    const starts = [1, 2, 3, 4].map((seed) => windowOf(faults, 1, at('12:00:00'), seed).start.getTime());
    expect(new Set(starts).size).toBe(4);
    expect(windowOf(faults, 1, at('12:00:00'), 1).start.getTime()).toBe(starts[0]);
  });
});

describe('a data folder', () => {
  it('is read with its faults in order, times in UTC, and only the signals that are there', async () => {
    const folder = await temporaryDirectory();
    try {
      const faults = [
        { injected_at: '2026-03-01 11:00:00', service_name: 'b', fault_type: 'u', pod_name: 'b-1' },
        { injected_at: '2026-03-01T10:00:00+01:00', service_name: 'a', fault_type: 't', last: '2026-03-01 09:20:00' },
      ];
      await writeFile(join(folder, 'faults.json'), JSON.stringify(faults));
      await writeFile(join(folder, 'metrics.parquet'), '');
      await mkdir(join(folder, 'logs.parquet'));
      expect(readFaults(folder)).toEqual([
        { injectedAt: at('09:00:00'), service: 'a', type: 't', end: at('09:20:01') },
        { injectedAt: at('11:00:00'), service: 'b', type: 'u' },
      ]);
      expect(dataFiles(folder)).toEqual({ metrics: join(folder, 'metrics.parquet') });
    } finally {
      await removeDirectory(folder);
    }
  });

  it('that is none is refused in words', async () => {
    const folder = await temporaryDirectory();
    try {
      expect(() => readFaults(folder)).toThrow('is not a list of faults');
      expect(() => dataFiles(folder)).toThrow('There is no data');
    } finally {
      await removeDirectory(folder);
    }
  });
});
