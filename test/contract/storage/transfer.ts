import type { Storage, TransferBatch } from '../../../src/contract/storage/index.ts';
import { rejection, type Runner } from '../runner.ts';
import { furnish } from './furniture.ts';
import { ada, type MakeStorage, newIncident, ownStage, refusal, Stage } from './stage.ts';

const artifacts = ['Grant', 'RefreshToken'];
/** Stores are made, which takes seconds on a server. */
const patienceMs = 120_000;

/** A storage shows all it keeps as of one moment, and takes all of another one, or nothing. */
export function transferPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('a transfer', () => {
    const stage = ownStage(runner, make);
    const elsewhere = async (work: (storage: Storage) => Promise<void>): Promise<void> => {
      const other = await Stage.make(make);
      try {
        await work(other.storage);
      } finally {
        await other.end();
      }
    };

    it(
      'takes everything there is, and gives it again as it came',
      async () => {
        const { storage } = stage();
        const organizations = await furnish(storage);
        const taken = await readAll(storage);
        const counts = await storage.transfer.snapshot(artifacts, async (snapshot) => snapshot.counts);
        // So that nothing is moved that was never tried here.
        expect(Object.entries(counts).filter(([, count]) => count === 0)).toEqual([]);
        expect(countsOf(taken)).toEqual(counts);
        await elsewhere(async (other) => {
          await other.transfer.restore(each(taken));
          expect(linesOf(await readAll(other))).toEqual(linesOf(taken));
          for (const id of organizations) {
            expect(await readable(other, id)).toEqual(await readable(storage, id));
            const [before, after] = [storage.workspace(id), other.workspace(id)];
            const next = await before.incidents.create(newIncident(), ada);
            expect((await after.incidents.create(newIncident(), ada)).number).toBe(next.number);
          }
        });
      },
      patienceMs,
    );

    it('leaves out sessions, and the artifacts that nobody named', async () => {
      const { storage } = stage();
      await furnish(storage);
      const rows = (await readAll(storage)).filter(({ table }) => table === 'artifacts').flatMap((batch) => batch.rows);
      expect(new Set(rows.map(({ model }) => model))).toEqual(new Set(artifacts));
      expect((await readAll(storage)).some(({ table }) => table === 'sessions')).toBe(false);
    });

    it('shows one moment, whatever is written meanwhile', async () => {
      const { storage, other } = stage();
      const [first] = await furnish(other);
      if (first === undefined) throw new Error('no organization');
      await storage.transfer.snapshot(artifacts, async (snapshot) => {
        const before = { ...snapshot.counts };
        const batches: TransferBatch[] = [];
        for await (const batch of snapshot.batches()) {
          if (batches.length % 5 === 0) await other.workspace(first).incidents.create(newIncident(), ada);
          batches.push(batch);
        }
        expect(countsOf(batches)).toEqual(Object.fromEntries(Object.entries(before).filter(([, count]) => count > 0)));
      });
    });

    it(
      'is refused where anything is already, which stays as it is',
      async () => {
        const { storage } = stage();
        await furnish(storage);
        const taken = await readAll(storage);
        expect(await refusal(storage.transfer.restore(each(taken)))).toBe('conflict');
        expect(linesOf(await readAll(storage))).toEqual(linesOf(taken));
        await elsewhere(async (other) => {
          await other.directory.createOrganization({ name: 'there first' });
          expect(await refusal(other.transfer.restore(each(taken)))).toBe('conflict');
          expect(await other.directory.organizations()).toHaveLength(1);
        });
      },
      patienceMs,
    );

    it(
      'that breaks off at any place leaves nothing, and can be begun again',
      async () => {
        const { storage } = stage();
        await furnish(storage);
        const taken = await readAll(storage);
        await elsewhere(async (other) => {
          for (const length of [1, Math.floor(taken.length / 2), taken.length]) {
            const broken = async function* () {
              yield* taken.slice(0, length);
              throw new Error('cut');
            };
            await rejection(other.transfer.restore(broken()));
            expect(await readAll(other)).toEqual([]);
          }
          await other.transfer.restore(each(taken));
          expect(linesOf(await readAll(other))).toEqual(linesOf(taken));
        });
      },
      patienceMs,
    );

    it(
      'is refused for what no storage gave, and leaves nothing',
      async () => {
        const { storage } = stage();
        const [first, second] = await furnish(storage);
        if (first === undefined || second === undefined) throw new Error('no organizations');
        const taken = await readAll(storage);
        const changed = (change: (batch: TransferBatch) => TransferBatch): TransferBatch[] => taken.map(change);
        const rows = (change: (row: TransferBatch['rows'][number]) => TransferBatch['rows'][number]) =>
          changed((batch) => ({ ...batch, rows: batch.rows.map((row, index) => (index === 0 ? change(row) : row)) }));
        const hostile: Readonly<Record<string, readonly TransferBatch[]>> = {
          'an unknown table': [...taken, { table: 'pg_authid', rows: [{ a: 1 }] }],
          'a table in the wrong place': changed((batch) => ({ table: batch.table, rows: batch.rows })),
          'a column too many': rows((row) => ({ ...row, extra: 1 })),
          'a column that decides whose it is': rows((row) => ({ ...row, organization_id: first })),
          'a column too few': rows((row) => Object.fromEntries(Object.entries(row).slice(1))),
          'values of other types': rows((row) =>
            Object.fromEntries(
              Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? 1 : 'text']),
            ),
          ),
          'the same twice': [...taken, ...taken.slice(0, 1)],
          'what it refers to left out': taken.slice(1),
          // Parts of one organization's things given to another.
          ...Object.fromEntries(
            ['incident_documents', 'incident_timeline', 'chat_messages', 'investigation_steps', 'api_key_secrets'].map(
              (table) => [
                `${table} of another organization`,
                changed((batch) =>
                  batch.table === table && batch.organizationId === first
                    ? { ...batch, organizationId: second }
                    : batch,
                ),
              ],
            ),
          ),
        };
        await elsewhere(async (other) => {
          for (const [what, batches] of Object.entries(hostile)) {
            expect([what, await refusal(other.transfer.restore(each(batches)))]).toEqual([what, 'invalid_argument']);
            expect([what, await readAll(other)]).toEqual([what, []]);
          }
        });
      },
      patienceMs,
    );
  });
}

async function* each(batches: readonly TransferBatch[]): AsyncGenerator<TransferBatch> {
  yield* batches;
}

function readAll({ transfer }: Storage): Promise<readonly TransferBatch[]> {
  return transfer.snapshot(artifacts, async (snapshot) => {
    const batches: TransferBatch[] = [];
    for await (const batch of snapshot.batches()) batches.push(batch);
    return batches;
  });
}

/** Every row with its place, whatever batches they came in. */
function linesOf(batches: readonly TransferBatch[]): readonly string[] {
  return batches.flatMap(({ table, organizationId, rows }) =>
    rows.map((row) => JSON.stringify([table, organizationId ?? null, row])),
  );
}

function countsOf(batches: readonly TransferBatch[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { table, rows } of batches) counts[table] = (counts[table] ?? 0) + rows.length;
  return counts;
}

/** What people and programs see of an organization. */
async function readable(storage: Storage, id: Parameters<Storage['workspace']>[0]) {
  const { members, keys, incidents, chats, audit } = storage.workspace(id);
  const { items } = await chats.list({ limit: 100 });
  return Promise.all([
    members.list(),
    keys.list(),
    incidents.list({ limit: 100 }),
    Promise.all(items.map((chat) => chats.messages(chat.id, { limit: 100 }))),
    audit.list({ limit: 1_000 }),
  ]);
}
