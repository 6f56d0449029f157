import { isList, isNode, list, only, text } from './tree.ts';
import type { Json, Node } from './tree.ts';

/** What PostgreSQL reads as a moment in a text that it takes for a time: wherever it stands in it, in any case. */
const moment = /now|today|tomorrow|yesterday/i;

const fewRows = 1_000;

/**
 * Whether a statement says that it has few rows, by its LIMIT or since it groups: a guess, by which it is asked for all of them
 * at once. Then it may run in parallel, which it may not where rows are asked for by number.
 */
export function saysFewRows(statement: Node): boolean {
  const select = only('SelectStmt', statement);
  if (select === undefined || text(select['op']) !== 'SETOP_NONE') return false;
  const limit = only('A_Const', select['limitCount']);
  const count = isNode(limit?.['ival']) ? (limit['ival']['ival'] ?? 0) : undefined;
  if (typeof count === 'number') return count <= fewRows;
  return list(select['groupClause']).length > 0;
}

/**
 * Whether a constant may mean the moment at which the statement is read. A server that keeps the statement by a name has read it
 * once, and means that moment ever after (PostgreSQL, Date/Time Special Values).
 */
export function isOfItsMoment(tree: Json): boolean {
  const rest: Json[] = [tree];
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    if (isList(value)) {
      for (const element of value) rest.push(element);
    } else if (isNode(value)) {
      const constant = only('A_Const', value)?.['sval'];
      if (isNode(constant) && moment.test(text(constant['sval']))) return true;
      for (const field of Object.values(value)) rest.push(field);
    }
  }
  return false;
}
