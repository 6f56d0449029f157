import { setImmediate } from 'node:timers/promises';
import { promptMs, type Lookup, type Row } from '../dialect.ts';
import type { ColumnValue } from '../tables.ts';

/** What a statement holds stays far below the databases' limits of parameters. */
const rowsAStatement = 100;
/**
 * UTF-16 units of texts, of which a statement's last row may bring more. Escaped and in UTF-8 each takes up to three bytes, and
 * MariaDB takes statements of 16 MiB.
 */
const unitsAStatement = 1_000_000;

interface RowsStatement {
  readonly sql: string;
  readonly bindings: readonly ColumnValue[];
}

/** The statements that insert many rows, where each costs a round trip. */
export function* rowsStatements(sql: string, rows: readonly (readonly ColumnValue[])[]): Generator<RowsStatement> {
  const width = rows[0]?.length ?? 0;
  let known: { readonly rows: number; readonly sql: string } | undefined;
  for (const some of together(rows)) {
    if (known?.rows !== some.length) known = { rows: some.length, sql: `${sql} ${places(some.length, width)}` };
    yield { sql: known.sql, bindings: some.flat() };
  }
}

/** As many as one statement may hold. */
function* together(rows: readonly (readonly ColumnValue[])[]): Generator<readonly (readonly ColumnValue[])[]> {
  let start = 0;
  let units = 0;
  for (const [index, row] of rows.entries()) {
    for (const value of row) if (typeof value === 'string') units += value.length;
    if (units < unitsAStatement && index + 1 - start < rowsAStatement) continue;
    yield rows.slice(start, index + 1);
    [start, units] = [index + 1, 0];
  }
  if (start < rows.length) yield rows.slice(start);
}

function places(rows: number, width: number): string {
  return Array<string>(rows)
    .fill(`(${Array<string>(width).fill('?').join(', ')})`)
    .join(', ');
}

/** A connection that only runs prepared statements, one after the other, outside any transaction. */
export interface Link {
  /** False when it ended, for whatever reason. */
  readonly usable: boolean;
  first(statement: LookupStatement, values: readonly string[]): Promise<Row | undefined>;
  close(): Promise<void>;
}

export interface LookupStatement {
  /** Unique within a process. */
  readonly name: string;
  readonly sql: string;
}

interface Lane {
  readonly opening: Promise<Link>;
  waiting: number;
  link: Link | undefined;
}

/**
 * Few connections for the look-ups of every request, beside the pools: no waiting for a free one, no transaction around it. Each
 * asks in the order of coming, and the least busy is asked.
 */
export class Lookups {
  readonly #most: number;
  readonly #open: () => Promise<Link>;
  readonly #isLost: (error: unknown) => boolean;
  readonly #lanes = new Set<Lane>();
  #prepared = 0;
  #closed = false;

  constructor(most: number, open: () => Promise<Link>, isLost: (error: unknown) => boolean) {
    this.#most = most;
    this.#open = open;
    this.#isLost = isLost;
  }

  /**
   * What is asked several times in one turn of the event loop goes to the server once, when the turn has read its requests: as
   * each of them would, it sees what was committed before it was asked.
   */
  prepare(sql: string): Lookup {
    const statement = { name: `sightline_${(this.#prepared += 1)}`, sql };
    const due = new Map<string, Promise<Row | undefined>>();
    const turnsEnd = async (): Promise<void> => {
      await setImmediate();
      due.clear();
    };
    let end: Promise<void> = Promise.resolve();
    return (...values) => {
      const key = JSON.stringify(values);
      const asked = due.get(key);
      if (asked !== undefined) return asked;
      if (due.size === 0) end = turnsEnd();
      const asking = end.then(() => this.#persist(statement, values));
      due.set(key, asking);
      return asking;
    };
  }

  async #persist(statement: LookupStatement, values: readonly string[]): Promise<Row | undefined> {
    const begun = performance.now();
    try {
      return await this.#ask(statement, values);
    } catch (error) {
      // A look-up changes nothing: it is asked again, on a connection that is new if need be.
      if (!this.#isLost(error) || this.#closed || performance.now() - begun > promptMs) throw error;
      return this.#ask(statement, values);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const lane of this.#lanes) await lane.opening.then((link) => link.close()).catch(() => {});
    this.#lanes.clear();
  }

  async #ask(statement: LookupStatement, values: readonly string[]): Promise<Row | undefined> {
    const lane = this.#lane();
    lane.waiting += 1;
    try {
      const link = lane.link ?? (await lane.opening);
      return await link.first(statement, values);
    } catch (error) {
      if (lane.link?.usable !== true) this.#lanes.delete(lane);
      throw error;
    } finally {
      lane.waiting -= 1;
    }
  }

  #lane(): Lane {
    if (this.#closed) throw new Error('the storage was stopped');
    let best: Lane | undefined;
    for (const lane of this.#lanes) {
      if (lane.link?.usable === false) this.#lanes.delete(lane);
      else if (best === undefined || lane.waiting < best.waiting) best = lane;
    }
    if (best !== undefined && (best.waiting === 0 || this.#lanes.size >= this.#most)) return best;
    return this.#addLane();
  }

  #addLane(): Lane {
    const opening = this.#open();
    const lane: Lane = { opening, waiting: 0, link: undefined };
    this.#lanes.add(lane);
    opening.then(
      (link) => (lane.link = link),
      () => this.#lanes.delete(lane),
    );
    return lane;
  }
}
