import type { Knex } from 'knex';
import { isId, SightlineError, type OrganizationId } from '../../src/contract/core/index.ts';
import { integer } from './columns.ts';
import type { OrganizationTable, OrganizationTables, RowIn } from './rows.ts';
import type { ColumnValue } from './tables.ts';
import type { Statements } from './transact.ts';

/** A row before it is owned. */
export type NewRow<Table extends OrganizationTable> = Omit<OrganizationTables[Table], 'organization_id'>;

/**
 * The only way to an organization's tables: every statement that begins here carries the organization, so one without it
 * cannot be written. Conditions are only ever added with `where` and grouped alternatives, never with a bare `orWhere`.
 *
 * Statements begun together (`Promise.all`) run in that order. PostgreSQL gets them in one round trip.
 */
export class Scope {
  readonly organizationId: OrganizationId;
  readonly #knex: Statements;

  constructor(knex: Statements, organizationId: OrganizationId) {
    this.#knex = knex;
    this.organizationId = organizationId;
  }

  /** Rows of the organization, to select, update or delete. */
  from<Table extends OrganizationTable>(table: Table) {
    return this.#knex<OrganizationTables[Table]>(table).where(`${table}.organization_id`, this.organizationId);
  }

  async insert<Table extends OrganizationTable>(
    table: Table,
    rows: NewRow<Table> | readonly NewRow<Table>[],
  ): Promise<void> {
    await this.#knex.into(table).insert(this.#owned(rows));
  }

  /**
   * Many rows, all with the columns of the first. The statement's end is written by the dialect's client, since knex spends
   * more on making a statement of rows than a database on carrying it out.
   */
  async insertMany<Table extends OrganizationTable>(
    table: Table,
    rows: readonly (NewRow<Table> & Readonly<Record<string, ColumnValue>>)[],
  ): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    const columns = Object.keys(first);
    const owned = rows.map((row) => [this.organizationId, ...columns.map((column) => row[column])]);
    await this.#knex
      .raw('insert into ?? (??) values', [table, ['organization_id', ...columns]])
      .options({ rows: owned });
  }

  /** Leaves an existing row with the same key columns as it is. */
  async insertIfAbsent<Table extends OrganizationTable>(
    table: Table,
    row: NewRow<Table>,
    key: readonly (keyof OrganizationTables[Table] & string)[],
  ): Promise<void> {
    await this.#knex
      .into(table)
      .insert(this.#owned(row))
      .onConflict([...key])
      .ignore();
  }

  /** Where there is a row with the same key columns already, it gets the values of `changed`. */
  async upsert<Table extends OrganizationTable>(
    table: Table,
    row: NewRow<Table>,
    key: readonly (keyof OrganizationTables[Table] & string)[],
    changed: readonly (keyof OrganizationTables[Table] & string)[],
  ): Promise<void> {
    await this.#knex
      .into(table)
      .insert(this.#owned(row))
      .onConflict([...key])
      .merge([...changed]);
  }

  /** What the issuer keeps of these grants. Artifacts name no organization; their grants do. */
  artifactsOf(grants: Partial<Pick<RowIn<'grants'>, 'id' | 'user_id'>>) {
    return this.#knex('artifacts').whereIn('grant_id', this.from('grants').where(grants).select('id'));
  }

  /** All rows of these tables; how many there were. */
  async clear(tables: readonly string[]): Promise<number> {
    let removed = 0;
    for (const table of tables) {
      removed += await this.#knex<{ organization_id: string }>(table)
        .where('organization_id', this.organizationId)
        .delete();
    }
    return removed;
  }

  /**
   * Refuses what a person does who was deleted meanwhile: a request that was under way would leave something of theirs behind.
   * Deleting holds the organization's lock, as this transaction does.
   */
  async refuseErased(actorId: string): Promise<void> {
    if (!isId('usr', actorId)) return;
    const { organizationId } = this;
    const erased = await this.#knex('erasures')
      .where({ user_id: actorId })
      .where((place) => void place.whereNull('organization_id').orWhere({ organization_id: organizationId }))
      .first('id');
    if (erased === undefined) return;
    if ((await this.from('members').where({ user_id: actorId }).first('role')) !== undefined) return;
    throw new SightlineError('forbidden', 'The account of this person was deleted.');
  }

  /** For a condition of a raw kind on one column, e.g. LIKE with its escape character. */
  raw(sql: string, bindings: readonly (string | number)[]): Knex.Raw {
    return this.#knex.raw(sql, [...bindings]);
  }

  /** Locks the counter until the transaction ends and tells its value, 0 at first. */
  async lockCounter(name: string): Promise<number> {
    // Leaves an existing row unchanged, but makes every engine lock it at once.
    const [, row] = await Promise.all([
      this.upsert('counters', { name, value: 0 }, ['organization_id', 'name'], ['name']),
      this.from('counters').where({ name }).first('value'),
    ]);
    return integer(row?.value ?? 0);
  }

  async setCounter(name: string, value: number): Promise<void> {
    await this.from('counters').where({ name }).update({ value });
  }

  /** The counter's next value. The row stays locked until the transaction ends, so numbers have neither gaps nor doubles. */
  async next(name: string): Promise<number> {
    const [, row] = await Promise.all([
      this.#knex
        .into('counters')
        .insert(this.#owned({ name, value: 1 }))
        .onConflict(['organization_id', 'name'])
        .merge({ value: this.#knex.raw('counters.value + 1') }),
      this.from('counters').where({ name }).first('value'),
    ]);
    return integer(row?.value ?? 0);
  }

  /** What the audit of the instance refers to: looks like an organization that was removed. */
  async keepInstance(at: Date): Promise<void> {
    const id = this.organizationId;
    await this.#knex('organizations')
      .insert({ id, name: id, name_key: id, created_at: at.getTime(), deleted_at: at.getTime(), purge_at: null })
      .onConflict('id')
      .ignore();
  }

  #owned(rows: object | readonly object[]): object | readonly object[] {
    const own = (row: object) => ({ ...row, organization_id: this.organizationId });
    return Array.isArray(rows) ? rows.map(own) : own(rows);
  }
}
