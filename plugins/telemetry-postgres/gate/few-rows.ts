import { isNode, list, only, text, type Node } from './tree.ts';

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
