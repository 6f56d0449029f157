import {
  isList,
  isNode,
  list,
  text,
  type Json,
  type Node,
  type TimePoint,
  type TimeReach,
} from '../../../src/contract/telemetry/index.ts';
import { DerivedQueries, widthOf } from './derived.ts';
import { bareMoments, constantText, countedMoment, epochOf, momentOf, type Moment } from './moment.ts';
import { aliasOf, fold, isTelemetryTable, timeColumnsOf, type TimeColumns } from './relations.ts';

/**
 * What the statement's own predicates on `time` leave of each place that reads a telemetry table. Only conditions without
 * which no row of that place takes part count: what is not surely one is passed over.
 * @param reads its queries and telemetry tables, each query before those in it.
 */
export function reachesOf(statement: Json, reads: readonly Node[], now: number): readonly TimeReach[] {
  const reaches: TimeReach[] = [];
  const seen = new Set<Node>();
  let known: boolean | undefined;
  const bareNames = () => (known ??= !namesBareMoment(statement));
  const selects = reads.filter((node) => !isTelemetryTable(node));
  const queries = selects.length > 1 ? new DerivedQueries(statement, selects) : undefined;
  for (const node of reads) {
    if (isTelemetryTable(node)) {
      if (!seen.has(node)) reaches.push({});
      continue;
    }
    for (const { table, reach } of placesOf(node, { queries, bareNames, now })) {
      seen.add(table);
      reaches.push(reach);
    }
  }
  return reaches;
}

interface Place {
  readonly table: Node;
  readonly reach: TimeReach;
}

interface Source {
  readonly table: Node;
  /** Every row of the table that a condition here is not true of can be left out. */
  readonly conditions: readonly Json[];
}

interface Known {
  /** Undefined where no query is in another. */
  readonly queries: DerivedQueries | undefined;
  /** Whether `current_timestamp` and the like surely mean moments. */
  bareNames(): boolean;
  readonly now: number;
}

function placesOf(select: Node, known: Known): Place[] {
  const from = select['from_table'];
  if (!isNode(from)) return [];
  const sampled = select['sample'] !== null && select['sample'] !== undefined;
  const sources: Source[] = [];
  const names: string[] = [];
  let merged = false;
  const walk = (item: Json | undefined, conditions: readonly Json[]): void => {
    if (!isNode(item)) return;
    if (item['type'] !== 'JOIN') names.push(aliasOf(item));
    const inside = item['sample'] === null || item['sample'] === undefined ? conditions : [];
    if (isTelemetryTable(item)) sources.push({ table: item, conditions: inside });
    if (item['type'] !== 'JOIN') return;
    const using = isList(item['using_columns']) ? item['using_columns'] : [];
    merged ||= item['ref_type'] === 'NATURAL' || using.some((column) => fold(text(column)) === 'time');
    const [left, right] = sides(item, inside);
    walk(item['left'], left);
    walk(item['right'], right);
  };
  walk(from, sampled ? [] : [select['where_clause'] ?? null]);
  return sources.map(({ table, conditions }) => {
    const name = aliasOf(table);
    const renamed = isList(table['column_name_alias']) && table['column_name_alias'].length > 0;
    const unique = names.filter((other) => other === name).length === 1;
    if (renamed || !unique) return { table, reach: {} };
    // Another `time` in scope makes the bare one ambiguous, which is an error, unless a join made one of the two.
    const bare = sources.length === 1 && !merged;
    const bounds: Bounds = { start: undefined, end: undefined };
    const subject = { name, bare, columns: timeColumnsOf(table), ...known };
    for (const condition of conditions) narrow(bounds, condition, subject);
    if (table === from) narrowFromAbove(bounds, select, known);
    return { table, reach: reachOf(bounds) };
  });
}

/** What queries around ask of the times that they get from this one. */
function narrowFromAbove(bounds: Bounds, select: Node, known: Known): void {
  const { queries } = known;
  if (queries === undefined) return;
  let inner = select;
  for (let outer = queries.readerOf(inner); outer !== undefined; outer = queries.readerOf(inner)) {
    const columns = queries.outputsOf(inner);
    const from = outer['from_table'];
    if (columns.size === 0 || !isNode(from) || (outer['sample'] !== null && outer['sample'] !== undefined)) return;
    narrow(bounds, outer['where_clause'] ?? null, { name: aliasOf(from), bare: true, columns, ...known });
    inner = outer;
  }
}

/** Which conditions hold for a join's sides: those from above and its own, where a row that fails them goes missing. */
function sides(join: Node, above: readonly Json[]): readonly [left: readonly Json[], right: readonly Json[]] {
  const own = [join['condition'] ?? null];
  const kind = text(join['ref_type']);
  // Which row of the right side is the nearest, or stands at the same position, depends on the others.
  if (kind === 'POSITIONAL') return [[], []];
  const type = text(join['join_type']);
  if (kind === 'ASOF') return [type === 'INNER' || type === 'LEFT' ? above : [], []];
  switch (type) {
    case 'INNER':
      return [
        [...above, ...own],
        [...above, ...own],
      ];
    case 'LEFT':
    case 'ANTI':
      return [above, own];
    case 'SEMI':
      return [[...above, ...own], own];
    case 'RIGHT':
      return [own, above];
    default:
      return [[], []];
  }
}

interface Subject extends Known {
  readonly name: string;
  /** Whether a column alone means this item's. */
  readonly bare: boolean;
  readonly columns: TimeColumns;
}

interface Bounds {
  start: Moment | undefined;
  end: Moment | undefined;
}

function reachOf(bounds: Bounds): TimeReach {
  const start = bounds.start && point(bounds.start.fromNow, Math.floor(bounds.start.low));
  const end = bounds.end && point(bounds.end.fromNow, Math.ceil(bounds.end.high));
  return { ...(start && { start }), ...(end && { end }) };
}

function point(fromNow: boolean, ms: number): TimePoint | undefined {
  if (fromNow) return { fromNowMs: ms };
  const at = new Date(ms);
  return Number.isNaN(at.getTime()) ? undefined : { at };
}

function narrow(bounds: Bounds, condition: Json, subject: Subject): void {
  if (!isNode(condition)) return;
  if (condition['type'] === 'CONJUNCTION_AND' && isList(condition['children'])) {
    for (const child of condition['children']) narrow(bounds, child, subject);
    return;
  }
  const { now } = subject;
  const from = ({ moment }: Compared) => {
    if (moment && (!bounds.start || lowOf(moment, now) > lowOf(bounds.start, now))) bounds.start = moment;
  };
  /** `within`: the moment itself is left in, so the end lies behind it, as it does where the column lies before the time. */
  const to = ({ moment, width }: Compared, within: boolean) => {
    const end = moment && { ...moment, high: moment.high + (width > 0 ? width : within ? 1 : 0) };
    if (end && (!bounds.end || highOf(end, now) < highOf(bounds.end, now))) bounds.end = end;
  };
  if (condition['class'] === 'BETWEEN' && condition['type'] === 'COMPARE_BETWEEN') {
    from(compared(condition['input'], condition['lower'], subject));
    to(compared(condition['input'], condition['upper'], subject), true);
    return;
  }
  if (condition['class'] !== 'COMPARISON') return;
  const { left, right } = condition;
  const straight = compared(left, right, subject);
  const both = straight.moment === undefined ? compared(right, left, subject) : straight;
  const comparison = text(condition['type']);
  switch (straight.moment === undefined ? turned[comparison] : comparison) {
    case 'COMPARE_GREATERTHAN':
    case 'COMPARE_GREATERTHANOREQUALTO':
      return from(both);
    case 'COMPARE_LESSTHAN':
      return to(both, false);
    case 'COMPARE_LESSTHANOREQUALTO':
      return to(both, true);
    case 'COMPARE_EQUAL':
      from(both);
      to(both, true);
      return;
    default:
  }
}

const day = 86_400_000;

interface Compared {
  /** Undefined where the first is no time of the subject, or the second surely no moment. */
  readonly moment: Moment | undefined;
  /** How far before the time the first may lie. */
  readonly width: number;
}

function compared(time: Json | undefined, other: Json | undefined, subject: Subject): Compared {
  const ofColumn = (names: readonly string[]) => widthOfColumn(names, subject);
  const isColumn = isNode(time) && time['class'] === 'COLUMN_REF';
  const counted = isColumn ? undefined : epochOf(time);
  const width = isColumn ? ofColumn(namesOf(time)) : widthOf(counted === undefined ? time : counted.of, ofColumn);
  if (width === undefined || (mentionsColumn(other) && !subject.bareNames())) return { moment: undefined, width: 0 };
  if (counted === undefined) {
    const moment = momentOf(other);
    // Beside a date a text is read as one: its hours are left out.
    const isRead = width >= day && constantText(other) !== undefined;
    return { moment: moment && isRead ? { ...moment, low: Math.floor(moment.low / day) * day } : moment, width };
  }
  // Counted in whole units, so that it lies up to one before.
  return { moment: countedMoment(other, counted.scale), width: width + Math.max(1, counted.scale) };
}

const turned: Readonly<Record<string, string>> = {
  COMPARE_EQUAL: 'COMPARE_EQUAL',
  COMPARE_GREATERTHAN: 'COMPARE_LESSTHAN',
  COMPARE_GREATERTHANOREQUALTO: 'COMPARE_LESSTHANOREQUALTO',
  COMPARE_LESSTHAN: 'COMPARE_GREATERTHAN',
  COMPARE_LESSTHANOREQUALTO: 'COMPARE_GREATERTHANOREQUALTO',
};

function lowOf({ fromNow, low }: Moment, now: number): number {
  return fromNow ? now + low : low;
}

function highOf({ fromNow, high }: Moment, now: number): number {
  return fromNow ? now + high : high;
}

function namesOf(column: Node): readonly string[] {
  return list(column['column_names']).map((part) => fold(text(part)));
}

/** `time`, `s.time`, or `otel.spans.time` where there is no alias. */
function widthOfColumn(names: readonly string[], { name, bare, columns }: Subject): number | undefined {
  const isOwn =
    names.length === 1
      ? bare
      : names.length === 2
        ? names[0] === name
        : names.length === 3 && names[0] === 'otel' && names[1] === name;
  return isOwn ? columns.get(names.at(-1) ?? '') : undefined;
}

function mentionsColumn(value: Json | undefined): boolean {
  if (isList(value)) return value.some(mentionsColumn);
  return isNode(value) && (value['class'] === 'COLUMN_REF' || Object.values(value).some(mentionsColumn));
}

/** Whether anything in the statement might give a column such a name, which would come before the moment. */
function namesBareMoment(value: Json): boolean {
  if (typeof value === 'string') return [...bareMoments].some((name) => fold(value).includes(name));
  if (isList(value)) return value.some(namesBareMoment);
  if (!isNode(value)) return false;
  const isReference = value['class'] === 'COLUMN_REF' && isList(value['column_names']);
  return Object.entries(value).some(([key, item]) =>
    isReference && key === 'column_names' ? false : namesBareMoment(item),
  );
}
