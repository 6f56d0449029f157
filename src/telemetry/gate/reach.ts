import type { TableName, TimePoint, TimeReach } from '../../contract/telemetry/index.ts';
import { aliasOf, roundedColumn, timeColumnsOf, type DerivedQueries, type TimeColumns } from './derived.ts';
import { countedMoment, epochOf, momentOf, type Moment } from './moment.ts';
import type { Expression, FromItem, Select, Source } from './tree.ts';

/** What can be told about one read of a telemetry table before the statement is written. */
export interface Read {
  readonly select: Select;
  readonly source: Source;
  readonly table: TableName;
  readonly queries: DerivedQueries;
  /** Names that expressions of the statement are given: they may hide a column. */
  readonly aliases: ReadonlySet<string>;
  readonly fold: (name: string) => string;
}

interface Bound {
  readonly side: 'start' | 'end';
  readonly point: TimePoint;
}

/**
 * What the predicates on `time` beside a table leave of it. Never too narrow: only what must hold for every row of the table
 * that the SELECT can use, and only constants that we can compute.
 */
export function reachOf(read: Read): TimeReach {
  const subject = { ...read, columns: timeColumnsOf(read.table) };
  const bounds = [...conditions(read).flatMap((condition) => boundsIn(condition, subject)), ...boundsAbove(read)];
  const start = tightest(bounds, 'start');
  const end = tightest(bounds, 'end');
  return { ...(start && { start }), ...(end && { end }) };
}

/** A FROM item whose times are asked about. */
interface Subject extends Pick<Read, 'select' | 'source' | 'aliases' | 'fold'> {
  readonly columns: TimeColumns;
}

/** What queries around ask of the times that they get from this one. */
function boundsAbove({ select, aliases, fold, queries }: Read): readonly Bound[] {
  const bounds: Bound[] = [];
  if (select.from.length !== 1) return bounds;
  let inner = select;
  for (let outer = queries.readerOf(inner); outer !== undefined; outer = queries.readerOf(inner)) {
    const columns = queries.outputsOf(inner);
    const [item] = outer.from;
    if (columns.size === 0 || item === undefined) break;
    // What an output is called is its name here, and the only one of that name.
    const others = new Set([...aliases].filter((name) => !columns.has(fold(name))));
    const subject = { select: outer, source: item.source, aliases: others, fold, columns };
    for (const condition of [outer.prewhere, outer.where]) {
      if (condition !== undefined) bounds.push(...boundsIn(condition, subject));
    }
    inner = outer;
  }
  return bounds;
}

function boundsIn(condition: Expression, subject: Subject): readonly Bound[] {
  return conjuncts(condition).flatMap((part) => boundsOf(part, subject));
}

function conditions({ select, source }: Read): readonly Expression[] {
  const at = select.from.findIndex((item) => item.source === source);
  const given: (Expression | undefined)[] = [];
  if (!mayBeAbsent(select.from, at, select.from.length)) given.push(select.prewhere, select.where);
  for (const [index, item] of select.from.entries()) {
    if (item.on === undefined || item.join.includes('ASOF')) continue;
    const side = sideOf(item);
    if (index === at && side !== 'RIGHT' && side !== 'FULL') given.push(item.on);
    if (index > at && (side === 'INNER' || side === 'RIGHT') && !mayBeAbsent(select.from, at, index))
      given.push(item.on);
  }
  return given.filter((condition) => condition !== undefined);
}

/** Whether a join before `until` puts empty values where the item has no row: a predicate may hold for those. */
function mayBeAbsent(from: readonly FromItem[], at: number, until: number): boolean {
  return from.slice(0, until).some((item, index) => {
    const side = sideOf(item);
    return side === 'FULL' ? index >= at : index === at ? side === 'LEFT' : index > at && side === 'RIGHT';
  });
}

function sideOf({ join }: FromItem): 'INNER' | 'LEFT' | 'RIGHT' | 'FULL' {
  if (join.endsWith('ARRAY JOIN')) return 'INNER';
  const side = (['LEFT', 'RIGHT', 'FULL'] as const).find((word) => join.includes(word));
  return side ?? (/SEMI|ANTI|ASOF/.test(join) ? 'LEFT' : 'INNER');
}

function conjuncts(expression: Expression): readonly Expression[] {
  const parts: Expression[] = [];
  let rest = expression;
  while (rest.kind === 'binary' && rest.operator === 'AND') {
    parts.push(...conjuncts(rest.right));
    rest = rest.left;
  }
  return [...parts, rest];
}

const mirrored: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '=': '=' };

function boundsOf(part: Expression, subject: Subject): readonly Bound[] {
  if (part.kind === 'between') {
    if (part.not) return [];
    return [...compared(part.operand, '>=', part.low, subject), ...compared(part.operand, '<=', part.high, subject)];
  }
  if (part.kind !== 'binary') return [];
  const { operator, left, right } = part;
  const straight = compared(left, operator, right, subject);
  return straight.length > 0 ? straight : compared(right, mirrored[operator] ?? '', left, subject);
}

const dayMs = 86_400_000;

function compared(time: Expression, operator: string, other: Expression, subject: Subject): readonly Bound[] {
  const counted = epochOf(time);
  const plain = widthOf(counted?.of ?? time, subject);
  if (plain === undefined) return [];
  const moment = counted === undefined ? momentOf(other) : countedMoment(other, counted.scale);
  if (moment === undefined) return [];
  const width = plain + (counted?.scale ?? 0);
  // Beside a date a text is read as one: its hours are left out.
  const isRead = width >= dayMs && other.kind === 'string';
  const earliest = isRead ? Math.floor(moment.earliest / dayMs) * dayMs : Math.floor(moment.earliest);
  const start: Bound = { side: 'start', point: pointAt(moment, earliest) };
  const before: Bound = { side: 'end', point: pointAt(moment, Math.ceil(moment.latest + width)) };
  const through: Bound = { side: 'end', point: pointAt(moment, Math.floor(moment.latest + width) + 1) };
  switch (operator) {
    case '>':
    case '>=':
      return [start];
    case '<':
      return [before];
    case '<=':
      return [through];
    case '=':
      return [start, through];
    default:
      return [];
  }
}

/** How far before the time of the subject an expression lies at most; undefined where it is none. */
function widthOf(expression: Expression, subject: Subject): number | undefined {
  const rounded = roundedColumn(expression);
  const column =
    rounded &&
    columnOf(
      rounded.parts.map(({ text }) => subject.fold(text)),
      subject,
    );
  const width = column === undefined ? undefined : subject.columns.get(column);
  return rounded && width !== undefined ? width + rounded.width : undefined;
}

/** The column of the subject that a name surely means. */
function columnOf(parts: readonly string[], { select, source, aliases, fold }: Subject): string | undefined {
  const column = parts.at(-1);
  if (column === undefined) return undefined;
  if (parts.length === 1) {
    const others = select.from.filter((item) => item.source.kind !== 'arrays');
    return others.length === 1 && !aliases.has(column) ? column : undefined;
  }
  const qualifier = parts.length === 2 ? parts[0] : parts.length === 3 && parts[0] === 'otel' ? parts[1] : undefined;
  if (qualifier === undefined || qualifier !== aliasOf(source, fold) || aliases.has(qualifier)) return undefined;
  return select.from.filter((item) => aliasOf(item.source, fold) === qualifier).length === 1 ? column : undefined;
}

function pointAt({ base }: Moment, milliseconds: number): TimePoint {
  return base === 'epoch' ? { at: new Date(milliseconds) } : { fromNowMs: milliseconds };
}

/** Moments of both kinds cannot be told apart in advance: the first kind that was written stands. */
function tightest(bounds: readonly Bound[], side: Bound['side']): TimePoint | undefined {
  let best: TimePoint | undefined;
  for (const bound of bounds) {
    if (bound.side !== side) continue;
    if (best === undefined || isTighter(bound.point, best, side)) best = bound.point;
  }
  return best;
}

function isTighter(point: TimePoint, than: TimePoint, side: Bound['side']): boolean {
  if ('at' in point !== 'at' in than) return false;
  const difference = value(point) - value(than);
  return side === 'start' ? difference > 0 : difference < 0;
}

function value(point: TimePoint): number {
  return 'at' in point ? point.at.getTime() : point.fromNowMs;
}
