import { toId, SightlineError } from '../../../src/contract/core/index.ts';
import type {
  KeptResultBounds,
  KeptResultRecord,
  KeptResultRepository,
  ScanRepository,
} from '../../../src/contract/storage/index.ts';
import { integer, shortText } from '../columns.ts';
import type { Database } from '../database.ts';
import type { RowIn } from '../rows.ts';
import { OrganizationRepository } from './repository.ts';
import type { Scope } from '../scope.ts';

/** What is told of a result without reading it. */
type Listed = Pick<RowIn<'kept_results'>, 'id' | 'holder' | 'bytes' | 'expires_at'>;

export class KeptResults extends OrganizationRepository implements KeptResultRepository {
  async keep({ id, holder, sealed, expiresAt }: KeptResultRecord, bounds: KeptResultBounds, now: Date): Promise<void> {
    const row = {
      id: shortText('The id of a kept result', id, 40),
      holder: shortText('The holder of a kept result', holder, 64),
      sealed,
      bytes: sealed.length,
      expires_at: expiresAt.getTime(),
    };
    await this.database.write(async (scope) => {
      await scope.insert('kept_results', row);
      // No more than the overall bound, since each one that is kept drops what is beyond.
      const listed = await scope
        .from('kept_results')
        .orderBy([
          { column: 'expires_at', order: 'desc' },
          { column: 'id', order: 'desc' },
        ])
        .select('id', 'holder', 'bytes', 'expires_at');
      // Of those kept in one millisecond this is the newest.
      const isThis = (other: Listed): number => Number(other.id === id);
      const newestFirst = listed.toSorted((one, other) => isThis(other) - isThis(one));
      const dropped = beyond(newestFirst, bounds, now);
      if (dropped.length > 0) await scope.from('kept_results').whereIn('id', dropped).delete();
    });
  }

  find(id: string, holder: string, now: Date): Promise<string | undefined> {
    return this.database.read(async (scope) => {
      const alive = scope.from('kept_results').where({ id, holder }).where('expires_at', '>', now.getTime());
      return (await alive.first('sealed'))?.sealed;
    });
  }
}

/** Of all organizations. */
export async function removeExpiredResults(database: Database, before: Date): Promise<void> {
  const time = before.getTime();
  const owners = await database.read((knex) =>
    knex('kept_results').where('expires_at', '<=', time).distinct().pluck('organization_id'),
  );
  for (const owner of owners) {
    await database
      .scoped(toId('org', owner))
      .write((scope) => scope.from('kept_results').where('expires_at', '<=', time).delete());
  }
}

/** Ids of the results to evict, from a list that begins with the newest. */
function beyond(listed: readonly Listed[], { perHolder, overall }: KeptResultBounds, now: Date): readonly string[] {
  const all = { results: 0, bytes: 0 };
  const byHolder = new Map<string, typeof all>();
  const dropped: string[] = [];
  for (const { id, holder, bytes, expires_at } of listed) {
    const own = byHolder.get(holder) ?? { results: 0, bytes: 0 };
    byHolder.set(holder, own);
    for (const sum of [own, all]) {
      sum.results += 1;
      sum.bytes += integer(bytes);
    }
    const over = (sum: typeof all, most: typeof all): boolean => sum.results > most.results || sum.bytes > most.bytes;
    if (integer(expires_at) <= now.getTime() || over(own, perHolder) || over(all, overall)) dropped.push(id);
  }
  return dropped;
}

const most = Number.MAX_SAFE_INTEGER;

export class Scans extends OrganizationRepository implements ScanRepository {
  async add(day: string, bytes: number): Promise<number> {
    checkDay(day);
    if (!Number.isSafeInteger(bytes)) {
      throw new SightlineError('invalid_argument', 'A number of bytes must be an integer.');
    }
    return this.database.write(async (scope) => {
      await scope.upsert('scan_usage', { day, bytes: 0 }, ['organization_id', 'day'], ['day']);
      // One statement on the row itself, so that what others add at the same time is not lost.
      const sum =
        bytes < 0
          ? scope.raw('CASE WHEN bytes < ? THEN 0 ELSE bytes - ? END', [-bytes, -bytes])
          : scope.raw('CASE WHEN bytes > ? THEN ? ELSE bytes + ? END', [most - bytes, most, bytes]);
      await scope.from('scan_usage').where({ day }).update({ bytes: sum });
      return totalOf(scope, day);
    });
  }

  async total(day: string): Promise<number> {
    checkDay(day);
    return this.database.read((scope) => totalOf(scope, day));
  }
}

async function totalOf(scope: Scope, day: string): Promise<number> {
  const row = await scope.from('scan_usage').where({ day }).first('bytes');
  return integer(row?.bytes ?? 0);
}

function checkDay(day: string): void {
  if (/^\d{4}-\d{2}-\d{2}$/.test(day)) return;
  throw new SightlineError('invalid_argument', 'A day is written as 2026-01-31.');
}
