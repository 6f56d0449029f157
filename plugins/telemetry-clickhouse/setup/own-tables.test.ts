import { expect, it } from '@jest/globals';
import { describeOnEngine } from '../../../test/support/clickhouse/with-engine.ts';
import { literal } from '../quote.ts';
import { openEngine, remove } from '../support/layouts/engine.ts';
import { ownTables } from './own-tables.ts';

describeOnEngine('tables of our own', () => {
  it('bring the tables of an earlier version up to date, and can be run again', async () => {
    await using admin = await openEngine();
    const now = ownTables({ database: 'now', prefix: '' });
    const before = ownTables({ database: 'before', prefix: '' }).filter((sql) => sql.startsWith('CREATE'));
    const lines = /^  (`_log`|`_batch`|`event_name`|`flags`|batches|INDEX idx_attribute_keys) .*\n/gm;
    for (const sql of [...now, ...before.map((text) => text.replaceAll(lines, ''))]) await admin.rows(sql);
    const columns = async (database: string) =>
      await admin.rows(
        `SELECT table, name, type FROM system.columns WHERE database = ${literal(database)} ORDER BY table, name`,
      );
    const indexes = async (database: string) =>
      await admin.rows(
        `SELECT table, name, expr FROM system.data_skipping_indices WHERE database = ${literal(database)} ORDER BY table, name`,
      );
    expect((await columns('before')).length).toBe((await columns('now')).length - 11);
    for (const time of ['first', 'second']) {
      for (const sql of ownTables({ database: 'before', prefix: '' })) await admin.rows(sql);
      expect([time, await columns('before')]).toEqual([time, await columns('now')]);
      expect([time, await indexes('before')]).toEqual([time, await indexes('now')]);
    }
    remove(admin.directory);
  });
});
