import { isList, isNode, list, text, type Json, type Node } from '../../../src/contract/telemetry/index.ts';
import { functions } from './functions.ts';
import type { Refusals } from './refuse.ts';
import { namesOf, only } from './tree.ts';
import { collations, fields, operators, types } from './tokens.ts';

/** Rows that a relation made of constants may have. What is not constant meets the server's limits. */
const maxElements = 1_000_000;

/** Whether a name behind a dot could be a call of something that is not allowed. */
export function mayBeCall(name: string): boolean {
  return !fields.has(name);
}

/**
 * What PostgreSQL keeps for itself. A row may stand before the dot as well as a function's value; besides these, what
 * takes a row is harmless.
 */
export function isReserved(name: string): boolean {
  return name.startsWith('pg_');
}

/** The name, if it is unqualified or of pg_catalog. */
function plainName(value: Json | undefined): string | undefined {
  const [first, second, third] = namesOf(value);
  if (second === undefined) return first;
  return first === 'pg_catalog' && third === undefined ? second : undefined;
}

/** Their first argument of two is looked up among the database's objects: a path there would tell which schemas exist. */
const configured: ReadonlySet<string> = new Set([
  'phraseto_tsquery',
  'plainto_tsquery',
  'to_tsquery',
  'to_tsvector',
  'websearch_to_tsquery',
]);

function isPlainWord(value: Json | undefined): boolean {
  const string = only('A_Const', value)?.['sval'];
  return isNode(string) && /^[a-z]+$/.test(text(string['sval']));
}

export function checkCall(node: Node, refusals: Refusals): void {
  const written = namesOf(node['funcname']).join('.');
  const name = plainName(node['funcname']);
  if (name === undefined) throw refusals.qualifiedFunction(written, node);
  if (!functions.has(name)) throw refusals.unknownFunction(name, node);
  const args = list(node['args']);
  if (configured.has(name) && args.length > 1 && !isPlainWord(args[0])) throw refusals.configuration(name, node);
  const numbers = args.map(constantNumber);
  const [first, second, third = 1] = numbers;
  if (name !== 'generate_series' || first === undefined || second === undefined) return;
  const elements = Math.abs(second - first) / (Math.abs(third) || 1);
  if (elements > maxElements) throw refusals.tooManyElements(name, maxElements, node);
}

export function checkType(node: Node, refusals: Refusals): void {
  const name = plainName(node['names']);
  if (name === undefined || !types.has(name)) throw refusals.type(namesOf(node['names']).join('.'), node);
  for (const modifier of list(node['typmods'])) {
    if (constantNumber(modifier) === undefined) throw refusals.construct('TypeName.typmods', node);
  }
}

export function checkCollation(node: Node, refusals: Refusals): void {
  const name = plainName(node['collname']);
  if (name === undefined || !collations.has(name)) throw refusals.collation(namesOf(node['collname']).join('.'), node);
}

/** BETWEEN and its kin carry their own words as names. */
const words: ReadonlySet<string> = new Set(['BETWEEN', 'NOT BETWEEN', 'BETWEEN SYMMETRIC', 'NOT BETWEEN SYMMETRIC']);

export function checkOperator(value: Json | undefined, node: Node, refusals: Refusals): void {
  const name = plainName(value);
  if (isList(value) && value.length === 1 && name !== undefined && words.has(name)) return;
  if (name === undefined || !operators.has(name)) throw refusals.operator(namesOf(value).join('.'), node);
}

/** Of an integer or decimal literal, perhaps with a minus sign or under a cast. */
export function constantNumber(value: Json | undefined): number | undefined {
  const cast = only('TypeCast', value);
  if (cast !== undefined) return constantNumber(cast['arg']);
  const sign = only('A_Expr', value);
  if (sign !== undefined && sign['lexpr'] === undefined && namesOf(sign['name']).join('') === '-') {
    const positive = constantNumber(sign['rexpr']);
    return positive === undefined ? undefined : -positive;
  }
  const constant = only('A_Const', value);
  if (constant === undefined) return undefined;
  const { ival: integer, fval: decimal } = constant;
  // A zero is left out of the tree.
  if (isNode(integer)) return typeof integer['ival'] === 'number' ? integer['ival'] : 0;
  return isNode(decimal) ? Number(text(decimal['fval'])) : undefined;
}

/** The same where a cast changes nothing of it: `1.5::int` and `16777217::real` are other numbers than they look. */
export function exactNumber(value: Json | undefined): number | undefined {
  const sign = only('A_Expr', value);
  if (sign !== undefined && exactNumber(sign['rexpr']) === undefined) return undefined;
  const cast = only('TypeCast', value);
  if (cast === undefined) return constantNumber(value);
  const type = cast['typeName'];
  if (!isNode(type) || type['typmods'] !== undefined || type['arrayBounds'] !== undefined) return undefined;
  const isWide = ['int4', 'int8', 'numeric', 'float8'].includes(namesOf(type['names']).at(-1) ?? '');
  const number = exactNumber(cast['arg']);
  return isWide && Number.isSafeInteger(number) ? number : undefined;
}
