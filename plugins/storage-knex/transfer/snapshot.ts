import type { Knex } from 'knex';
import { toId, type OrganizationId } from '../../../src/contract/core/index.ts';
import type { StorageSnapshot, TransferBatch, TransferRow } from '../../../src/contract/storage/index.ts';
import { countOf } from '../columns.ts';
import type { RowIn } from '../rows.ts';
import { directoryTables, movedOfOrganization, kept, type Kind, type Table } from '../tables.ts';

const pageRows = 200;

type Row = TransferRow;
/** Begins a query for the rows that are asked for. */
type From = () => Knex.QueryBuilder<Row, Row[]>;

/** Reads through `knex`, which has to show one moment. */
export async function lookAt(knex: Knex, artifacts: readonly string[]): Promise<StorageSnapshot> {
  const of = (name: string): From => {
    const from = () => knex<Row, Row[]>(name);
    return name === 'artifacts' ? () => from().whereIn('model', [...artifacts]) : from;
  };
  const counts: Record<string, number> = {};
  for (const name of [...directoryTables.keys(), ...movedOfOrganization.keys()]) {
    counts[name] = await countOf(of(name)());
  }
  const organizations = await knex<RowIn<'organizations'>>('organizations').orderBy('id').select('id');
  return {
    counts,
    async *batches() {
      for (const [table, moved] of directoryTables) yield* batches(of(table), table, moved);
      for (const { id } of organizations) {
        for (const [table, moved] of movedOfOrganization) {
          const own = () => of(table)().where(`${table}.organization_id`, id);
          yield* batches(own, table, moved, toId('org', id));
        }
      }
    },
  };
}

async function* batches(
  from: From,
  table: string,
  { key, columns }: Table,
  organizationId?: OrganizationId,
): AsyncGenerator<TransferBatch> {
  const selected = [...new Set([...key, ...Object.keys(columns)])];
  for (let last: Row | undefined; ;) {
    const query = from()
      .select(...selected)
      .orderBy(key.map((column) => ({ column })))
      .limit(pageRows);
    if (last !== undefined)
      after(
        query,
        key.map((column) => [column, keyValue(last?.[column], columns[column])]),
      );
    const rows = await query;
    if (rows.length > 0) {
      const read = rows.map((row) => toTransfer(row, columns));
      yield organizationId === undefined ? { table, rows: read } : { organizationId, table, rows: read };
    }
    if (rows.length < pageRows) return;
    last = rows.at(-1);
  }
}

type Bound = readonly [column: string, value: string | number];

/** Rows behind the last one in the order of the key: `a > ? or (a = ? and (b > ?))`. */
function after(query: Knex.QueryBuilder, [first, ...others]: readonly Bound[]): void {
  if (first === undefined) return;
  const [column, value] = first;
  if (others.length === 0) return void query.where(column, '>', value);
  // A separate condition, since no engine starts an index scan at an OR.
  void query.where(column, '>=', value).where((behind) => {
    void behind.where(column, '>', value).orWhere((same) => {
      void same.where(column, value);
      after(same, others);
    });
  });
}

/** Beside texts there are only integers in keys, which some drivers give as text. */
function keyValue(value: TransferRow[string] | undefined, kind: Kind | undefined): string | number {
  return kind === 'text' ? String(value) : Number(value);
}

function toTransfer(row: Row, columns: Readonly<Record<string, Kind>>): TransferRow {
  return Object.fromEntries(Object.entries(columns).map(([name, kind]) => [name, valueOf(row[name], kind)]));
}

function valueOf(value: TransferRow[string] | undefined, kind: Kind): TransferRow[string] {
  if (value === null || value === undefined) return null;
  const held = kept[kind];
  if (held === 'string') return String(value);
  return held === 'boolean' ? value === true || value === 1 : Number(value);
}
