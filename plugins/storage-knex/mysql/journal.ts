import type { Knex } from 'knex';
import { member, textMember } from '../server/errors.ts';

/*
 * A change of the schema commits by itself here, so a migration that is cut short stays half done. The journal knows which of
 * its statements were done, and which was on its way: that one may be there or not, and is forgiven if it is.
 */

const table = 'schema_migration_steps';

interface StepRow {
  readonly name: string;
  /** Statements known to be done. */
  readonly done: number;
  /** 1 from when the one after them is sent; 0 once it was refused. */
  readonly begun: number;
}

/** Runs a statement that changes the schema, unless that was done before. */
export type Change = (run: () => Promise<void>) => Promise<void>;

/** What a statement answers that was done before: the table, column, index, foreign key or row is there. */
const doneBefore: ReadonlySet<unknown> = new Set([1050, 1060, 1061, 1062, 1826]);

/**
 * Runs a migration from where it stood; it hands each of its changes, always the same in the same order, to its argument.
 * @param record writes down that it is done, before the journal forgets how far it came: else it would start again from the first statement.
 */
export async function journaled(
  knex: Knex,
  name: string,
  migration: (change: Change) => Promise<void>,
  record: () => Promise<void>,
): Promise<void> {
  await knex.raw(
    'create table if not exists ?? (name varchar(255) primary key, done int not null, begun int not null)',
    [table],
  );
  const step = await knex<StepRow>(table).where({ name }).first();
  if (step === undefined) await knex<StepRow>(table).insert({ name, done: 0, begun: 0 });
  const { done, begun } = step ?? { done: 0, begun: 0 };
  let position = 0;
  await migration(async (run) => {
    position += 1;
    if (position <= done) return;
    await knex<StepRow>(table)
      .where({ name })
      .update({ done: position - 1, begun: 1 });
    try {
      await run();
    } catch (error) {
      const forgiven = begun === 1 && position === done + 1 && wasDone(error);
      // What the server refused was not done; what ended with the connection may have been.
      if (!forgiven && member(error, 'sqlState') !== undefined) {
        await knex<StepRow>(table).where({ name }).update({ begun: 0 });
      }
      if (!forgiven) throw error;
    }
  });
  await record();
  await knex<StepRow>(table).where({ name }).delete();
}

function wasDone(error: unknown): boolean {
  // MariaDB's word for a foreign key that is there.
  return doneBefore.has(member(error, 'errno')) || textMember(error, 'message')?.includes('errno: 121') === true;
}
