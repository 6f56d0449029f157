import {
  isList,
  isNode,
  text,
  type Json,
  type Node,
  type TimePoint,
  type TimeReach,
} from '../../../src/contract/telemetry/index.ts';
import { bareMoments, momentOf, type Moment } from './moment.ts';
import { fold, isTelemetryTable } from './relations.ts';

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
  for (const node of reads) {
    if (isTelemetryTable(node)) {
      if (!seen.has(node)) reaches.push({});
      continue;
    }
    for (const { table, reach } of placesOf(node, bareNames, now)) {
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

function placesOf(select: Node, bareNames: () => boolean, now: number): Place[] {
  const from = select['from_table'];
  if (!isNode(from)) return [];
  const sampled = select['sample'] !== null && select['sample'] !== undefined;
  const sources: Source[] = [];
  const names: string[] = [];
  let merged = false;
  const walk = (item: Json | undefined, conditions: readonly Json[]): void => {
    if (!isNode(item)) return;
    if (item['type'] !== 'JOIN') names.push(nameOf(item));
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
    const name = nameOf(table);
    const renamed = isList(table['column_name_alias']) && table['column_name_alias'].length > 0;
    const unique = names.filter((other) => other === name).length === 1;
    if (renamed || !unique) return { table, reach: {} };
    // Another `time` in scope makes the bare one ambiguous, which is an error, unless a join made one of the two.
    const bare = sources.length === 1 && !merged;
    return { table, reach: reachOf(conditions, { name, bare, bareNames }, now) };
  });
}

function nameOf(item: Node): string {
  const alias = fold(text(item['alias']));
  return alias === '' ? fold(text(item['table_name'])) : alias;
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

interface Subject {
  readonly name: string;
  /** Whether `time` alone means this table's. */
  readonly bare: boolean;
  /** Whether `current_timestamp` and the like surely mean moments. */
  bareNames(): boolean;
}

interface Bounds {
  start: Moment | undefined;
  end: Moment | undefined;
}

function reachOf(conditions: readonly Json[], subject: Subject, now: number): TimeReach {
  const bounds: Bounds = { start: undefined, end: undefined };
  for (const condition of conditions) narrow(bounds, condition, subject, now);
  const start = bounds.start && point(bounds.start.fromNow, Math.floor(bounds.start.low));
  const end = bounds.end && point(bounds.end.fromNow, Math.ceil(bounds.end.high));
  return { ...(start && { start }), ...(end && { end }) };
}

function point(fromNow: boolean, ms: number): TimePoint | undefined {
  if (fromNow) return { fromNowMs: ms };
  const at = new Date(ms);
  return Number.isNaN(at.getTime()) ? undefined : { at };
}

function narrow(bounds: Bounds, condition: Json, subject: Subject, now: number): void {
  if (!isNode(condition)) return;
  if (condition['type'] === 'CONJUNCTION_AND' && isList(condition['children'])) {
    for (const child of condition['children']) narrow(bounds, child, subject, now);
    return;
  }
  const from = (moment: Moment | undefined) => {
    if (moment && (!bounds.start || lowOf(moment, now) > lowOf(bounds.start, now))) bounds.start = moment;
  };
  /** `within`: the moment itself is left in, so the end lies behind it. */
  const to = (moment: Moment | undefined, within: boolean) => {
    const end = moment && { ...moment, high: moment.high + (within ? 1 : 0) };
    if (end && (!bounds.end || highOf(end, now) < highOf(bounds.end, now))) bounds.end = end;
  };
  const moment = (expression: Json | undefined) =>
    !mentionsColumn(expression) || subject.bareNames() ? momentOf(expression) : undefined;
  if (condition['class'] === 'BETWEEN' && condition['type'] === 'COMPARE_BETWEEN') {
    if (!isTime(condition['input'], subject)) return;
    from(moment(condition['lower']));
    to(moment(condition['upper']), true);
    return;
  }
  if (condition['class'] !== 'COMPARISON') return;
  const { left, right } = condition;
  const comparison = text(condition['type']);
  const [operator, other] = isTime(left, subject)
    ? [comparison, right]
    : isTime(right, subject)
      ? [turned[comparison], left]
      : [undefined, undefined];
  switch (operator) {
    case 'COMPARE_GREATERTHAN':
    case 'COMPARE_GREATERTHANOREQUALTO':
      return from(moment(other));
    case 'COMPARE_LESSTHAN':
      return to(moment(other), false);
    case 'COMPARE_LESSTHANOREQUALTO':
      return to(moment(other), true);
    case 'COMPARE_EQUAL':
      from(moment(other));
      to(moment(other), true);
      return;
    default:
  }
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

/** `time`, `s.time`, or `otel.spans.time` where there is no alias. */
function isTime(expression: Json | undefined, { name, bare }: Subject): boolean {
  if (!isNode(expression) || expression['class'] !== 'COLUMN_REF' || !isList(expression['column_names'])) return false;
  const names = expression['column_names'].map((part) => fold(text(part)));
  if (names.at(-1) !== 'time') return false;
  if (names.length === 1) return bare;
  if (names.length === 2) return names[0] === name;
  return names.length === 3 && names[0] === 'otel' && names[1] === name;
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
