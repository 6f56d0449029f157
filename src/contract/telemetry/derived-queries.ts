import type { RoundedColumn, TimeColumns } from './time-reach.ts';

export interface OutputColumn<Expression> {
  /** Absent where nothing outside can name it. */
  readonly name?: string | undefined;
  /** By what GROUP BY may mean it as well. */
  readonly alias?: string | undefined;
  /** Absent where the name may mean something else. */
  readonly value?: Expression | undefined;
}

/** What a SELECT makes of the one FROM item that it reads. */
export interface Projection<Expression> {
  /** By what its columns may be qualified. */
  readonly from: string | undefined;
  /** Of the telemetry table that it reads. */
  readonly columns: TimeColumns | undefined;
  readonly items: readonly ('*' | OutputColumn<Expression>)[];
  /** Absent where it does not group; empty where what it groups by is not the same for all rows of a group. */
  readonly groups?: readonly Expression[] | undefined;
}

/** How a dialect writes queries. */
export interface QueryDialect<Select, Expression> {
  /** Undefined where rows may not be left out before the query as well as after it. */
  projectionOf(select: Select): Projection<Expression> | undefined;
  columnOf(expression: Expression): RoundedColumn | undefined;
  /** A position in the list of SELECT, and a bare name. */
  positionOf(expression: Expression): number | undefined;
  nameOf(expression: Expression): string | undefined;
  /** Fields of a tree's nodes by which equal expressions differ. */
  readonly incidental: ReadonlySet<string>;
  /** Whether a column of `*` may be hidden by something of its name; absent: never. */
  isHidden?(name: string): boolean;
}

const none: TimeColumns = new Map();

/**
 * Queries of FROM and of WITH that one other query reads, and reads alone: its conditions on their times hold for what they
 * read as well. Nothing is claimed of one that is read twice, or whose rows depend on each other.
 */
export class DerivedQueries<Select extends object, Expression> {
  readonly #dialect: QueryDialect<Select, Expression>;
  readonly #outermost: Select | undefined;
  readonly #links: () => Iterable<readonly [reader: Select, inner: Select]>;
  #inner: ReadonlyMap<Select, Select> | undefined;
  readonly #readers = new Map<Select, Select>();

  /** @param links is called for the first query inside another. */
  constructor(
    dialect: QueryDialect<Select, Expression>,
    outermost: Select | undefined,
    links: () => Iterable<readonly [reader: Select, inner: Select]>,
  ) {
    this.#dialect = dialect;
    this.#outermost = outermost;
    this.#links = links;
  }

  /** The queries around one, from the inside out, each with the times that it gets from there. */
  *readersOf(select: Select): Iterable<{ readonly reader: Select; readonly columns: TimeColumns }> {
    if (select === this.#outermost) return;
    const inner = this.#survey();
    let from = select;
    for (let reader = this.#readers.get(from); reader !== undefined; reader = this.#readers.get(from)) {
      const columns = this.#outputsOf(from, inner);
      if (columns.size === 0) return;
      yield { reader, columns };
      from = reader;
    }
  }

  #survey(): ReadonlyMap<Select, Select> {
    if (this.#inner !== undefined) return this.#inner;
    this.#inner = new Map(this.#links());
    for (const [reader, inner] of this.#inner) this.#readers.set(inner, reader);
    return this.#inner;
  }

  /** The times among what a query gives to its reader, where a condition on them may be asked before it. */
  #outputsOf(select: Select, inner: ReadonlyMap<Select, Select>, depth = 0): TimeColumns {
    const projection = depth > 20 ? undefined : this.#dialect.projectionOf(select);
    if (projection === undefined) return none;
    const { from, items, groups } = projection;
    const source = inner.get(select);
    const columns = source ? this.#outputsOf(source, inner, depth + 1) : (projection.columns ?? none);
    const outputs = new Map<string, number>();
    const seen = new Set<string>();
    const add = (name: string, width: number | undefined) => {
      if (width !== undefined && !seen.has(name)) outputs.set(name, width);
      else outputs.delete(name);
      seen.add(name);
    };
    for (const [index, item] of items.entries()) {
      if (item === '*') {
        for (const [name, width] of columns) add(name, this.#dialect.isHidden?.(name) ? undefined : width);
        continue;
      }
      const { name, value } = item;
      if (name === undefined) continue;
      const column = value === undefined ? undefined : this.#dialect.columnOf(value);
      const before = column && isOwn(column.names, from) ? columns.get(column.names.at(-1) ?? '') : undefined;
      const isKept = before !== undefined && (groups === undefined || this.#isGrouped(item, index, groups));
      add(name, isKept ? before + (column?.width ?? 0) : undefined);
    }
    return outputs;
  }

  /** Of a query that groups, only what it groups by is the same for all rows of a group. */
  #isGrouped({ alias, value }: OutputColumn<Expression>, index: number, groups: readonly Expression[]): boolean {
    const shapeOf = (expression: Expression | undefined) =>
      JSON.stringify(expression, (key, field: unknown) => (this.#dialect.incidental.has(key) ? undefined : field));
    const shape = shapeOf(value);
    return groups.some((group) => {
      if (this.#dialect.positionOf(group) === index + 1) return true;
      const name = this.#dialect.nameOf(group);
      return (name !== undefined && name === alias) || shapeOf(group) === shape;
    });
  }
}

function isOwn(names: readonly string[], from: string | undefined): boolean {
  return names.length === 1 || (names.length === 2 && names[0] === from);
}

/** Queries of WITH whose name is given once and found `times` times in the whole statement. */
export function readOnce<Select>(
  given: Iterable<readonly [name: string, query: Select | undefined]>,
  names: Iterable<string>,
  times = 1,
): ReadonlyMap<string, Select> {
  const queries = new Map<string, Select | undefined>();
  for (const [name, query] of given) queries.set(name, queries.has(name) ? undefined : query);
  const found = new Map<string, number>();
  for (const name of names) found.set(name, (found.get(name) ?? 0) + 1);
  return new Map([...queries].flatMap(([name, query]) => (query && found.get(name) === times ? [[name, query]] : [])));
}
