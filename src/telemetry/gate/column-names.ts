import { shown, type Faults } from './fault.ts';
import type { Expression, Name, Query } from './tree.ts';

/**
 * `name (a, b) AS (SELECT …)`: the first SELECT gives its columns these names, since BigQuery and older ClickHouses know no
 * such list. Refuses a name that would then mean another thing in that SELECT.
 */
export function withColumnNames(query: Query, names: readonly Name[], faults: Faults): Query {
  const { body } = query;
  if (body.kind === 'set') return { ...query, body: { ...body, left: withColumnNames(body.left, names, faults) } };
  const refuse = (message: string, at: Name | undefined): Error =>
    faults.refuse('sql_refused', message, at?.start, 'Write SELECT … AS name in the query itself, without the list.');
  if (body.asStruct || body.items.length !== names.length || body.items.some(({ kind }) => kind === 'star')) {
    throw refuse('The list of names before AS must have one for each column of the first SELECT.', names[0]);
  }
  const used = firstNames(query);
  const items = body.items.map((item, index): Expression => {
    const name = names[index];
    const own = ownName(item);
    if (name === undefined || own === name.text) return item;
    const given = item.kind === 'alias' ? own : undefined;
    for (const each of [name.text, given]) {
      if (each === undefined || !used.has(each.toLowerCase())) continue;
      throw refuse(`${shown(each)} is used in the query, so that ${shown(name.text)} cannot name its column.`, name);
    }
    return { kind: 'alias', operand: item.kind === 'alias' ? item.operand : item, name };
  });
  return { ...query, body: { ...body, items } };
}

/** What the column is called already. */
function ownName(item: Expression): string | undefined {
  if (item.kind === 'alias') return item.name.text;
  return item.kind === 'name' && item.parts.length === 1 ? item.parts[0]?.text : undefined;
}

/** What names in the query begin with, in lower case. */
function firstNames(query: Query): ReadonlySet<string> {
  const found = new Set<string>();
  const open: unknown[] = [query];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (typeof part !== 'object' || part === null) continue;
    if (isNameNode(part)) found.add(part.parts[0]?.text.toLowerCase() ?? '');
    for (const child of Object.values(part)) if (child !== undefined) open.push(child);
  }
  return found;
}

function isNameNode(part: object): part is Extract<Expression, { readonly kind: 'name' }> {
  return 'kind' in part && part.kind === 'name' && 'parts' in part;
}
