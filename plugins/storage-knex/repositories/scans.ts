import { SightlineError } from '../../../src/contract/core/index.ts';
import type { ScanRepository } from '../../../src/contract/storage/index.ts';
import { OrganizationRepository } from './repository.ts';
import { integer } from '../columns.ts';
import type { Scope } from '../scope.ts';

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
