/** The engine's syntax tree: what json_serialize_sql writes. Numbers beyond 2^53 come rounded; no tree is written back. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Node = { readonly [key: string]: Json };

export function parseTree(text: string): Json {
  return JSON.parse(text);
}

export function isNode(value: Json | undefined): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
