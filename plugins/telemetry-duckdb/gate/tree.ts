/** The engine's syntax tree: what json_serialize_sql writes. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Node = { readonly [key: string]: Json };

/*
 * Numbers that JavaScript would round (64-bit and wider constants, "no position" as 2^64 - 1) and decimals, whose ".0"
 * tells the engine a double, are held as strings that begin with NUL, which no SQL that reaches the parser can contain.
 */
const exact = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const held = /"\\u0000(-?[\d.eE+-]+)"/g;

/** Parses the engine's JSON. Undefined if it holds a NUL character itself, which could pass for a held number. */
export function parseTree(text: string): Json | undefined {
  if (text.includes('\\u0000')) return undefined;
  return JSON.parse(
    text.replace(exact, (token) =>
      token.startsWith('"') || (token.length < 16 && !/[.eE]/.test(token)) ? token : `"\\u0000${token}"`,
    ),
  );
}

export function writeTree(tree: Json): string {
  return JSON.stringify(tree).replace(held, '$1');
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
