import type { TimePoint, TimeReach } from '../../contract/telemetry/index.ts';
import { momentOf, type Moment } from './moment.ts';
import type { Expression, FromItem, Name, Select, Source } from './tree.ts';

/** What can be told about one read of a telemetry table before the statement is written. */
export interface Read {
  readonly select: Select;
  readonly source: Source;
  /** What the statement calls it. */
  readonly alias: Name;
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
  const bounds = conditions(read)
    .flatMap((condition) => conjuncts(condition))
    .flatMap((part) => boundsOf(part, read));
  const start = tightest(bounds, 'start');
  const end = tightest(bounds, 'end');
  return { ...(start && { start }), ...(end && { end }) };
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

function boundsOf(part: Expression, read: Read): readonly Bound[] {
  if (part.kind === 'between') {
    if (part.not || !isTime(part.operand, read)) return [];
    return [...compared('>=', momentOf(part.low)), ...compared('<=', momentOf(part.high))];
  }
  if (part.kind !== 'binary') return [];
  if (isTime(part.left, read)) return compared(part.operator, momentOf(part.right));
  if (isTime(part.right, read)) return compared(mirrored[part.operator] ?? '', momentOf(part.left));
  return [];
}

function isTime(expression: Expression, { select, alias, aliases, fold }: Read): boolean {
  if (expression.kind !== 'name') return false;
  const parts = expression.parts.map(({ text }) => fold(text));
  if (parts.at(-1) !== 'time') return false;
  if (parts.length === 1) {
    const others = select.from.filter(({ source }) => source.kind !== 'arrays');
    return others.length === 1 && !aliases.has('time');
  }
  const qualifier = parts.length === 2 ? parts[0] : parts.length === 3 && parts[0] === 'otel' ? parts[1] : undefined;
  if (qualifier === undefined || qualifier !== fold(alias.text) || aliases.has(qualifier)) return false;
  return select.from.filter(({ source }) => nameOf(source, fold) === qualifier).length === 1;
}

function nameOf(source: Source, fold: (name: string) => string): string | undefined {
  if (source.kind === 'arrays') return undefined;
  const name = source.alias ?? (source.kind === 'table' ? source.parts.at(-1) : undefined);
  return name && fold(name.text);
}

function compared(operator: string, moment: Moment | undefined): readonly Bound[] {
  if (moment === undefined) return [];
  const start: Bound = { side: 'start', point: pointAt(moment, Math.floor(moment.earliest)) };
  const before: Bound = { side: 'end', point: pointAt(moment, Math.ceil(moment.latest)) };
  const through: Bound = { side: 'end', point: pointAt(moment, Math.floor(moment.latest) + 1) };
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
