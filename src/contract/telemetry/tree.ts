/** A parsed statement as an engine's own parser writes it. */
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

/** Whether a node in the value, or it itself, is such a one. */
export function someNode(value: Json | undefined, test: (node: Node) => boolean): boolean {
  if (isList(value)) return value.some((item) => someNode(item, test));
  return isNode(value) && (test(value) || Object.values(value).some((item) => someNode(item, test)));
}

/** What may stand in a field of a node, and how it is checked. */
export type Part =
  /** A string, number or boolean that names nothing, or a name whose place makes it harmless. */
  | 'plain'
  /** Null, '', false or an empty list: a construct that is not allowed. */
  | 'absent'
  /** A list of names, as the dialect writes them. */
  | 'names'
  /** A constant's own value, of any form: it names nothing, and is not looked into. */
  | 'data'
  | { readonly oneOf: readonly string[] }
  /** A node of that category. `levels`, here and below: how much deeper it counts than the node with the field, else 1. */
  | { readonly node: string; readonly levels?: number }
  | { readonly nodes: string; readonly levels?: number }
  /** A node of that type, which the node itself does not tell. */
  | { readonly bare: string; readonly levels?: number }
  | { readonly bares: string; readonly levels?: number }
  /** One of the dialect's `parts`. */
  | { readonly own: string };

/** Fields of a node type. What is missing here is refused. */
export type Shape = Readonly<Record<string, Part>>;

/** Names of the WITH queries that a FROM item may mean at one place of the statement. */
export interface CteScope {
  has(name: string): boolean;
  with(name: string): CteScope;
}

/** A dialect's own rules at a node type. Both run in the scope around the node. */
export interface NodeHook<State> {
  /** A field that the hook checks itself; the shape has to have it too. */
  readonly takes?: string;
  /** Before the fields are looked at. Answers the scope of the fields where it is another. */
  readonly enter?: (walk: TreeWalk<State>, node: Node, scope: CteScope, depth: number) => CteScope | undefined;
  readonly leave?: (walk: TreeWalk<State>, node: Node, scope: CteScope, depth: number) => void;
}

/** Node types that are allowed. */
export interface NodeTypes<State> {
  readonly shapes: Readonly<Record<string, Shape>>;
  readonly hooks: Readonly<Record<string, NodeHook<State>>>;
}

export interface NodeCategory<State> extends NodeTypes<State> {
  /** The field that tells a node's type. Without one, nodes are written `{ Type: { field: … } }`. */
  readonly typeField?: string;
}

/** A part that only one dialect has. Whatever it does not answer true to is refused. */
export type OwnPart<State> = (
  walk: TreeWalk<State>,
  value: Json,
  scope: CteScope,
  depth: number,
  /** The node that has the field. */
  node: Node,
) => boolean;

/** Where something unknown was found: no field where the node itself is, no type where that cannot be read. */
export interface Unknown {
  readonly node?: Node;
  readonly type?: string;
  readonly field?: string;
}

/** All that a dialect lets through. `State` is what its hooks gather from one statement. */
export interface TreeGrammar<State> {
  readonly maxDepth: number;
  readonly maxNodes: number;
  /** What a whole statement is. */
  readonly root: Part;
  readonly categories: Readonly<Record<string, NodeCategory<State>>>;
  /** Types of nodes that do not tell their type. */
  readonly bare: NodeTypes<State>;
  readonly parts: Readonly<Record<string, OwnPart<State>>>;
  /** Whether the parser writes null for what the caller left out. Otherwise a null is refused. */
  readonly nullIsNothing: boolean;
  isName(value: Json): boolean;
  /** Brings names that are the same into the same form. */
  fold(name: string): string;
  unknown(state: State, what: Unknown): Error;
}

/** One pass over one tree. Hooks continue it with these; each throws for what is not allowed. */
export interface TreeWalk<State> {
  readonly state: State;
  /** Each counts the value at that depth. */
  node(category: string, value: Json | undefined, scope: CteScope, depth: number): void;
  bare(type: string, value: Json | undefined, scope: CteScope, depth: number): void;
  /** As a field of a node at that depth. */
  part(part: Part, value: Json | undefined, scope: CteScope, depth: number, node: Node): void;
}
