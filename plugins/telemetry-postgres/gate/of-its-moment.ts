import { isList, isNode, only, text, type Json } from './tree.ts';

/** What PostgreSQL reads as a moment in a text that it takes for a time: wherever it stands in it, in any case. */
const moment = /now|today|tomorrow|yesterday/i;

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
