import type { SightlineError } from '../../../contract/core/index.ts';
import type { Dialect } from '../../../contract/telemetry/index.ts';
import { attributeAsColumn, attributeAsNumber, attributeByArrow, attributeByDot, keysOfMap } from './attributes.ts';
import * as clauses from './clauses.ts';
import { duckdbCall, filterClause, foreignCall, sumOfCondition } from './functions.ts';
import { quantileCall } from './quantiles.ts';
import { arrayJoin, columnOtherwise, errorFlag, itemAlias, itemAttribute, tableOtherwise } from './names.ts';
import { backticks, caselessLike, castType, containsWord, doubleQuotedText, regularExpression } from './texts.ts';
import { beforeNow, dateArithmetic, durationAsText, epochPart, relativeTime, timeAsNumber } from './times.ts';
import { givenNames, mostTokens, tokensOf, type Cure, type Habit, type Statement } from './tokens.ts';

/** Longer ones are not looked at: this is advice, and must cost little. */
const longest = 8_192;
/** Replaced in one statement. */
const mostCures = 20;

/** In this order: what a statement is, then its names, then its parts. */
const habits: readonly Habit[] = [
  clauses.fenced,
  clauses.explained,
  clauses.informationSchema,
  clauses.severalStatements,
  clauses.outputClause,
  clauses.prewhere,
  backticks,
  arrayJoin,
  tableOtherwise,
  itemAlias,
  itemAttribute,
  keysOfMap,
  attributeAsNumber,
  attributeByArrow,
  attributeByDot,
  regularExpression,
  containsWord,
  caselessLike,
  castType,
  filterClause,
  quantileCall,
  dateArithmetic,
  beforeNow,
  epochPart,
  duckdbCall,
  foreignCall,
  sumOfCondition,
  relativeTime,
  timeAsNumber,
  durationAsText,
  clauses.countWithoutBrackets,
  clauses.top,
  clauses.limitBy,
  clauses.limitOtherwise,
  clauses.tableModifier,
  doubleQuotedText,
  errorFlag,
  attributeAsColumn,
  clauses.orderByCount,
  clauses.aggregateInWhere,
  clauses.aliasInHaving,
  clauses.ungrouped,
  clauses.otherSigns,
];

/** A statement that failed. */
export interface Failed {
  readonly sql: string;
  readonly dialect: Dialect;
  /** That the caller may read, by table. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  readonly error: Pick<SightlineError, 'code' | 'message'>;
}

/** What to do about it; undefined where nothing in it is known to be another dialect's. */
export function cureHabits({ sql, dialect, columns, error }: Failed): Cure | undefined {
  if (sql.length > longest) return undefined;
  const { code, message } = error;
  const isMissing = code === 'unknown_table' || (code === 'unknown_function' && message.includes('does not exist'));
  const failure = { misfits: !isMissing && code !== 'unknown_column', mayMisuse: !isMissing };
  const advices = new Set<string>();
  let cured = sql;
  for (let turn = 0; turn < mostCures; turn += 1) {
    // Last, since it looks at every name: only where one is wrong, or others of the statement were.
    const asked = code === 'unknown_column' || cured !== sql ? [...habits, columnOtherwise] : habits;
    const cure = firstCure({ sql: cured, dialect, columns: columnsIn(cured, columns), ...failure }, asked);
    if (cure === undefined) break;
    if (cure.advice !== '') advices.add(cure.advice);
    if (cure.sql === undefined) return { advice: [...advices].join(' ') };
    cured = cure.sql;
  }
  return cured === sql ? undefined : { advice: [...advices].slice(0, 3).join(' '), sql: cured };
}

/** Of the tables that a statement names; of all where it names none. */
function columnsIn(sql: string, columns: Failed['columns']): ReadonlySet<string> {
  const named = [...columns].filter(([table]) => new RegExp(`\\botel\\W{1,3}${table}\\b`, 'i').test(sql));
  return new Set((named.length === 0 ? [...columns] : named).flatMap(([, names]) => names));
}

function firstCure(failed: Omit<Statement, 'given'>, asked: readonly Habit[]): Cure | undefined {
  const tokens = tokensOf(failed.sql, failed.dialect.name);
  if (tokens.length > mostTokens) return undefined;
  const statement = { ...failed, given: givenNames(tokens) };
  for (const habit of asked) {
    for (let at = 0; at < tokens.length; at += 1) {
      const cure = habit(tokens, at, statement);
      if (cure !== undefined && cure.sql !== statement.sql) return cure;
    }
  }
  return undefined;
}
