import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** Records that another connection could read from one look to the next: what it can read is on the disk. */
export interface Written {
  readonly count: number;
  /** From the end of its call, which its record has to the millisecond, to the look that saw it. */
  readonly oldestMs: number;
}

export interface Records {
  /** All since the last time, once no more have come for a while. */
  take(): Promise<readonly Written[]>;
  stop(): Promise<void>;
}

const everyMs = 2;
/** Longer than any batch waits. */
const quietMs = 500;

const seen = z.object({ count: z.coerce.number(), last: z.coerce.number(), began: z.coerce.number() });

const sql = 'SELECT count(*) AS count, max(id) AS last, min(at + duration_ms) AS began FROM audit WHERE id > ?';

/** Watches the audit of the embedded storage in that directory, from now on. */
export function watchRecords(dataDirectory: string): Records {
  const database = new DatabaseSync(join(dataDirectory, 'sightline.sqlite'), { readOnly: true });
  const statement = database.prepare(sql);
  let written: Written[] = [];
  let lastAt = performance.now();
  let last = seen.parse(statement.get(0)).last;
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const { count, last: newest, began } = seen.parse(statement.get(last));
      if (count > 0) {
        written.push({ count, oldestMs: Math.round(Date.now() - began) });
        [last, lastAt] = [newest, performance.now()];
      }
      await sleep(everyMs);
    }
  })();
  return {
    async take() {
      lastAt = performance.now();
      while (performance.now() - lastAt < quietMs) await sleep(quietMs / 5);
      const all = written;
      written = [];
      return all;
    },
    async stop() {
      stopped = true;
      await watching;
      database.close();
    },
  };
}
