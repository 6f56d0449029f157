/** All columns, or those that fit a pattern, and what is done to all of them. */
const anyColumns = /(?:\bselect|\bdistinct|[,.(])\s*\*|\bcolumns\b|\bapply\b|\buntuple\b/i;
const counted = /\bcount\s*\(\s*\*\s*\)/gi;

/**
 * The columns that a statement may name, as the gate has written it: each word in it, wherever it stands. Undefined where it may
 * name any. The analyzer reads what stands beneath a table column by column, and of a short statement that is most of its time.
 */
export function namedColumns(statement: string): ReadonlySet<string> | undefined {
  if (anyColumns.test(statement.replaceAll(counted, 'count()'))) return undefined;
  return new Set(statement.match(/[A-Za-z_]\w*/g));
}
