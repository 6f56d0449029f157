import {
  isNode,
  list,
  text,
  type Json,
  type Node,
  type TableName,
  type TimePoint,
  type TimeReach,
} from '../../../src/contract/telemetry/index.ts';
import { momentOf, type Moment } from './moment.ts';
import { namesOf, only } from './tree.ts';

interface Source {
  /** What its columns are qualified by; undefined where nothing outside can name it. */
  readonly name: string | undefined;

  readonly table: TableName | undefined;
  /** `otel.spans.time` means it too. */
  readonly unaliased: boolean;
  readonly mayHaveTime: boolean;
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
  return selects.flatMap(ofSelect);
}

function ofSelect(select: Node): readonly TimeReach[] {
  const sources = list(select['fromClause']).flatMap((item) => sourcesOf(item));
  narrow(select['whereClause'], sources, sources);
  return sources.filter(({ table }) => table !== undefined).map(({ bounds }) => bounds);
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
  const mayHaveTime =
    call === undefined || name === undefined || name === 'time' || renamed.includes('time') || definesColumns(call);
  return [{ name, table: undefined, unaliased: false, mayHaveTime, renamed: false, bounds: {} }];
}

function definesColumns(call: Node): boolean {
  const items = list(call['functions']).flatMap((item) => list(only('List', item)?.['items']).slice(1));
  return call['coldeflist'] !== undefined || items.some((item) => isNode(item) && Object.keys(item).length > 0);
}

function ofTable(table: Node): Source {
  const alias = table['alias'];
  const isTelemetry = table['schemaname'] === 'otel';
  const named = text(table['relname']);
  const known = named === 'spans' || named === 'metrics' || named === 'logs' ? named : undefined;
  return {
    name: isNode(alias) ? text(alias['aliasname']) : named,
    table: isTelemetry ? known : undefined,
    unaliased: isTelemetry && !isNode(alias),
    mayHaveTime: true,
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
    compare(sourceOf(lexpr, visible), '>=', momentOf(low), bound);
    compare(sourceOf(lexpr, visible), '<=', momentOf(high), bound);
  }
  if (kind !== 'AEXPR_OP') return;
  const operator = namesOf(comparison['name']).at(-1) ?? '';
  compare(sourceOf(lexpr, visible), operator, momentOf(rexpr), bound);
  compare(sourceOf(rexpr, visible), flipped[operator] ?? '', momentOf(lexpr), bound);
}

function compare(
  source: Source | undefined,
  operator: string,
  moment: Moment | undefined,
  bound: readonly Source[],
): void {
  if (source === undefined || moment === undefined || !bound.includes(source)) return;
  const { bounds } = source;
  const start = operator === '>' || operator === '>=' || operator === '=';
  const end = operator === '<' || operator === '<=' || operator === '=';
  if (start) {
    const point = tighter(bounds.start, pointOf(moment, Math.floor(moment.earliest)), Math.max);
    if (point !== undefined) bounds.start = point;
  }
  if (end) {
    // The end is exclusive.
    const latest = Math.ceil(moment.latest) + (operator === '<' ? 0 : 1);
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

/** Whose `time` an expression is, if that is certain. */
function sourceOf(value: Json | undefined, sources: readonly Source[]): Source | undefined {
  const names = namesOf(only('ColumnRef', value)?.['fields']);
  if (names.at(-1) !== 'time') return undefined;
  const [first, second] = names;
  const candidates =
    names.length === 1
      ? sources.filter(({ mayHaveTime }) => mayHaveTime)
      : names.length === 2
        ? sources.filter(({ name }) => name === first)
        : sources.filter(({ unaliased, name }) => unaliased && first === 'otel' && name === second);
  const [source, another] = candidates;
  return another === undefined && source?.table !== undefined && !source.renamed ? source : undefined;
}
