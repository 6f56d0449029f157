/** The syntax tree as PostgreSQL's own parser writes it: `{ NodeType: { field: … } }`, fields of no value left out. */
export type Json = null | boolean | number | string | readonly Json[] | Node;
export type Node = { readonly [key: string]: Json };

export function isNode(value: Json | undefined): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function list(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : [];
}

export function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

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
