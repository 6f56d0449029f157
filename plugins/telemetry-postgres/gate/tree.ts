import { isNode, list, text, type Json, type Node } from '../../../src/contract/telemetry/index.ts';

// The tree as PostgreSQL's own parser writes it: `{ NodeType: { field: … } }`, fields of no value left out.

/** The node of that type, without its wrapper. */
export function only(type: string, value: Json | undefined): Node | undefined {
  if (!isNode(value)) return undefined;
  const inner = value[type];
  return isNode(inner) ? inner : undefined;
}

/** `{ String: { sval } }`, as names are written; undefined for `*` and subscripts. */
export function nameOf(value: Json | undefined): string | undefined {
  const string = only('String', value);
  return string === undefined ? undefined : text(string['sval']);
}

export function namesOf(value: Json | undefined): readonly (string | undefined)[] {
  return list(value).map(nameOf);
}
