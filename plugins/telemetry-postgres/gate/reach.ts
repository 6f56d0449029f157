import {
  isNode,
  list,
  text,
  type Json,
  type Node,
  type TimePoint,
  type TimeReach,
} from '../../../src/contract/telemetry/index.ts';
import { aliasOf, DerivedQueries, epochOf, roundedColumn, timeColumnsOf, type TimeColumns } from './derived.ts';
import { momentOf, secondsOf, type Moment } from './moment.ts';
import { namesOf, only } from './tree.ts';

interface Source {
  /** What its columns are qualified by; undefined where nothing outside can name it. */
  readonly name: string | undefined;

  /** Undefined for what is no telemetry table and no query over one. */
  readonly columns: TimeColumns | undefined;
  /** `otel.spans.time` means it too. */
  readonly unaliased: boolean;
  mayHave(column: string): boolean;
  /** Columns that were given other names are not followed. */
  readonly renamed: boolean;
  readonly bounds: { start?: TimePoint; end?: TimePoint };
}

/**
 * What the statement's own predicates on `time` leave of each place that reads a telemetry table, in no order: one for
 * each. Only conjuncts of WHERE and of ON that compare the column with a constant count. Comparisons are never true of
 * NULL, so those in WHERE hold beneath outer joins as well; those in ON only for the side that a row without a partner
 * is dropped from.
 */
export function reachesOf(selects: readonly Node[]): readonly TimeReach[] {
  const queries = new DerivedQueries(selects);
  return selects.flatMap((select) => ofSelect(select, queries));
}

function ofSelect(select: Node, queries: DerivedQueries): readonly TimeReach[] {
  const sources = list(select['fromClause']).flatMap((item) => sourcesOf(item));
  narrow(select['whereClause'], sources, sources);
  const [only, another] = sources;
  if (only?.columns !== undefined && another === undefined) narrowFromAbove(only, select, queries);
  return sources.filter(({ columns }) => columns !== undefined).map(({ bounds }) => bounds);
}

/** What queries around ask of the times that they get from this one. */
function narrowFromAbove({ bounds }: Source, select: Node, queries: DerivedQueries): void {
  let inner = select;
  for (let outer = queries.readerOf(inner); outer !== undefined; outer = queries.readerOf(inner)) {
    const columns = queries.outputsOf(inner);
    if (columns.size === 0) return;
    const name = aliasOf(list(outer['fromClause'])[0]);
    const source = { name, columns, unaliased: false, mayHave: () => true, renamed: false, bounds };
    narrow(outer['whereClause'], [source], [source]);
    inner = outer;
  }
}

function sourcesOf(item: Json): readonly Source[] {
  const table = only('RangeVar', item);
  if (table !== undefined) return [ofTable(table)];
  const join = only('JoinExpr', item);
  if (join !== undefined) return ofJoin(join);
  const call = only('RangeFunction', item);
  const alias = (call ?? only('RangeSubselect', item))?.['alias'];
  const name = isNode(alias) ? text(alias['aliasname']) : undefined;
  const renamed = isNode(alias) ? namesOf(alias['colnames']) : [];
  const isOpen = call === undefined || name === undefined || definesColumns(call);
  const mayHave = (column: string) => isOpen || name === column || renamed.includes(column);
  return [{ name, columns: undefined, unaliased: false, mayHave, renamed: false, bounds: {} }];
}

function definesColumns(call: Node): boolean {
  const items = list(call['functions']).flatMap((item) => list(only('List', item)?.['items']).slice(1));
  return call['coldeflist'] !== undefined || items.some((item) => isNode(item) && Object.keys(item).length > 0);
}

function ofTable(table: Node): Source {
  const alias = table['alias'];
  const isTelemetry = table['schemaname'] === 'otel';
  return {
    name: isNode(alias) ? text(alias['aliasname']) : text(table['relname']),
    columns: timeColumnsOf(table),
    unaliased: isTelemetry && !isNode(alias),
    mayHave: () => true,
    renamed: isNode(alias) && alias['colnames'] !== undefined,
    bounds: {},
  };
}

function ofJoin(join: Node): readonly Source[] {
  const left = join['larg'] === undefined ? [] : sourcesOf(join['larg']);
  const right = join['rarg'] === undefined ? [] : sourcesOf(join['rarg']);
  const all = [...left, ...right];
  const bound = { JOIN_INNER: all, JOIN_LEFT: right, JOIN_RIGHT: left }[text(join['jointype'])] ?? [];
  narrow(join['quals'], all, bound);
  const alias = join['alias'];
  if (!isNode(alias)) return all;
  // Behind its alias a join's tables cannot be named, and with names for its columns `time` may be any of them.
  const renamed = alias['colnames'] !== undefined;
  return all.map((source) => hidden(source, renamed));
}

function hidden(source: Source, renamed: boolean): Source {
  return { ...source, name: undefined, unaliased: false, renamed: source.renamed || renamed };
}

const dayMs = 86_400_000;

const flipped: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '=': '=' };

function narrow(condition: Json | undefined, visible: readonly Source[], bound: readonly Source[]): void {
  const conjunction = only('BoolExpr', condition);
  if (conjunction !== undefined) {
    if (conjunction['boolop'] === 'AND_EXPR') {
      for (const part of list(conjunction['args'])) narrow(part, visible, bound);
    }
    return;
  }
  const comparison = only('A_Expr', condition);
  if (comparison === undefined) return;
  const { kind, lexpr, rexpr } = comparison;
  if (kind === 'AEXPR_BETWEEN') {
    const [low, high] = list(only('List', rexpr)?.['items']);
    compare(lexpr, '>=', low, visible, bound);
    compare(lexpr, '<=', high, visible, bound);
  }
  if (kind !== 'AEXPR_OP') return;
  const operator = namesOf(comparison['name']).at(-1) ?? '';
  compare(lexpr, operator, rexpr, visible, bound);
  compare(rexpr, flipped[operator] ?? '', lexpr, visible, bound);
}

function compare(
  value: Json | undefined,
  operator: string,
  other: Json | undefined,
  visible: readonly Source[],
  bound: readonly Source[],
): void {
  const counted = epochOf(value);
  const time = timeOf(counted ?? value, visible);
  if (time === undefined || !bound.includes(time.source)) return;
  const meant = counted === undefined ? momentOf(other) : secondsOf(other, epochOf);
  if (meant === undefined) return;
  // Beside a date a text is read as one: its hours are left out.
  const isRead = time.width >= dayMs && only('A_Const', other) !== undefined;
  const moment = isRead ? { ...meant, earliest: Math.floor(meant.earliest / dayMs) * dayMs } : meant;
  const { bounds } = time.source;
  const start = operator === '>' || operator === '>=' || operator === '=';
  const end = operator === '<' || operator === '<=' || operator === '=';
  if (start) {
    const point = tighter(bounds.start, pointOf(moment, Math.floor(moment.earliest)), Math.max);
    if (point !== undefined) bounds.start = point;
  }
  if (end) {
    // The end is exclusive. A column that is rounded down lies before the time.
    const latest = Math.ceil(moment.latest + time.width) + (operator === '<' && time.width === 0 ? 0 : 1);
    const point = tighter(bounds.end, pointOf(moment, latest), Math.min);
    if (point !== undefined) bounds.end = point;
  }
}

function pointOf({ from }: Moment, ms: number): TimePoint | undefined {
  if (from === 'now') return Number.isSafeInteger(ms) ? { fromNowMs: ms } : undefined;
  const at = new Date(ms);
  return Number.isNaN(at.getTime()) ? undefined : { at };
}

/** Of two bounds that both hold. Which of an absolute and a relative one is tighter changes; the absolute stays. */
function tighter(
  known: TimePoint | undefined,
  another: TimePoint | undefined,
  choose: (a: number, b: number) => number,
): TimePoint | undefined {
  if (known === undefined || another === undefined) return known ?? another;
  if ('at' in known && 'at' in another) return { at: new Date(choose(known.at.getTime(), another.at.getTime())) };
  if ('fromNowMs' in known && 'fromNowMs' in another) {
    return { fromNowMs: choose(known.fromNowMs, another.fromNowMs) };
  }
  return 'at' in known ? known : another;
}

/** Whose time an expression is, and how far before it, if that is certain. */
function timeOf(
  value: Json | undefined,
  sources: readonly Source[],
): { readonly source: Source; readonly width: number } | undefined {
  const rounded = roundedColumn(value);
  const column = rounded?.names.at(-1);
  if (rounded === undefined || column === undefined) return undefined;
  const [first, second] = rounded.names;
  const candidates =
    rounded.names.length === 1
      ? sources.filter((source) => source.mayHave(column))
      : rounded.names.length === 2
        ? sources.filter(({ name }) => name === first)
        : sources.filter(({ unaliased, name }) => unaliased && first === 'otel' && name === second);
  const [source, another] = candidates;
  const width = another === undefined && source?.renamed === false ? source.columns?.get(column) : undefined;
  return source && width !== undefined ? { source, width: width + rounded.width } : undefined;
}
