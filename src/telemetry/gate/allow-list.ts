import {
  isList,
  isNode,
  statementTooLarge,
  text,
  type CteScope,
  type Json,
  type Node,
  type NodeTypes,
  type Part,
  type TreeGrammar,
  type TreeWalk,
} from '../../contract/telemetry/index.ts';

/**
 * Lets a syntax tree through if all of it is known to the grammar: every node type, every field of every node, every value of
 * every field. Throws otherwise. A category, type, part or hook that the grammar does not have is refused like one of the
 * statement's.
 */
export function treeWalk<State>(tree: Json | undefined, grammar: TreeGrammar<State>, state: State): void {
  // The root counts as depth 0.
  new Walk(grammar, state).part(grammar.root, tree, new Scope((name) => grammar.fold(name)), -1, {});
}

class Walk<State> implements TreeWalk<State> {
  readonly state: State;
  readonly #grammar: TreeGrammar<State>;
  #nodes = 0;

  constructor(grammar: TreeGrammar<State>, state: State) {
    this.#grammar = grammar;
    this.state = state;
  }

  node(category: string, value: Json | undefined, scope: CteScope, depth: number): void {
    const grammar = this.#grammar;
    const types = entry(grammar.categories, category);
    if (types === undefined || !isNode(value)) throw grammar.unknown(this.state, {});
    if (types.typeField !== undefined) {
      this.#fields(types, text(value[types.typeField]), value, scope, depth);
      return;
    }
    const [type, another] = Object.keys(value);
    const inner = type === undefined ? undefined : value[type];
    if (type === undefined || another !== undefined || !isNode(inner)) throw grammar.unknown(this.state, {});
    this.#fields(types, type, inner, scope, depth);
  }

  bare(type: string, value: Json | undefined, scope: CteScope, depth: number): void {
    if (!isNode(value)) throw this.#grammar.unknown(this.state, {});
    this.#fields(this.#grammar.bare, type, value, scope, depth);
  }

  part(part: Part, value: Json | undefined, scope: CteScope, depth: number, node: Node): void {
    if (value === undefined || !this.#fits(part, value, scope, depth, node)) {
      throw this.#grammar.unknown(this.state, {});
    }
  }

  #fields(types: NodeTypes<State>, type: string, node: Node, outer: CteScope, depth: number): void {
    const { maxDepth, maxNodes, nullIsNothing } = this.#grammar;
    this.#nodes += 1;
    if (depth > maxDepth || this.#nodes > maxNodes) throw statementTooLarge();
    const shape = entry(types.shapes, type);
    if (shape === undefined) throw this.#grammar.unknown(this.state, { node, type });
    const hook = entry(types.hooks, type);
    const scope = hook?.enter?.(this, node, outer, depth) ?? outer;
    for (const [field, value] of Object.entries(node)) {
      const part = entry(shape, field);
      if (part === undefined) throw this.#grammar.unknown(this.state, { node, type, field });
      if ((value === null && nullIsNothing) || field === hook?.takes) continue;
      // Most fields are plain, so a call for each would be most of the walk.
      const fits = part === 'plain' ? isPlain(value) : this.#fits(part, value, scope, depth, node);
      if (!fits) throw this.#grammar.unknown(this.state, { node, type, field });
    }
    hook?.leave?.(this, node, outer, depth);
  }

  /** Whether a value is what the part says; throws for what is unknown within it. */
  #fits(part: Part, value: Json, scope: CteScope, depth: number, node: Node): boolean {
    if (part === 'plain') return isPlain(value);
    if (part === 'absent') return isEmpty(value);
    if (part === 'names') return isList(value) && value.every((name) => this.#grammar.isName(name));
    if (part === 'data') return true;
    if ('oneOf' in part) return typeof value === 'string' && part.oneOf.includes(value);
    // A part of no kind that is known here has to be refused, whatever its type says.
    if ('own' in part) return entry(this.#grammar.parts, part.own)?.(this, value, scope, depth + 1, node) === true;
    const below = depth + (part.levels ?? 1);
    if ('node' in part) {
      this.node(part.node, value, scope, below);
      return true;
    }
    if ('bare' in part) {
      if (!isNode(value)) return false;
      this.bare(part.bare, value, scope, below);
      return true;
    }
    if (!isList(value) || !('nodes' in part || 'bares' in part)) return false;
    for (const item of value) {
      if ('nodes' in part) this.node(part.nodes, item, scope, below);
      else this.bare(part.bares, item, scope, below);
    }
    return true;
  }
}

/** Only what the table itself has: not `constructor` or `__proto__`. */
function entry<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function isPlain(value: Json): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isEmpty(value: Json): boolean {
  return value === null || value === '' || value === false || (isList(value) && value.length === 0);
}

interface Link {
  readonly name: string;
  readonly before: Link | undefined;
}

/** Chained, since each WITH query begins a scope: copying the names would cost the square of their number. */
export class Scope implements CteScope {
  readonly #fold: (name: string) => string;
  readonly #last: Link | undefined;

  constructor(fold: (name: string) => string, last?: Link) {
    this.#fold = fold;
    this.#last = last;
  }

  has(name: string): boolean {
    const wanted = this.#fold(name);
    for (let link = this.#last; link !== undefined; link = link.before) if (link.name === wanted) return true;
    return false;
  }

  with(name: string): Scope {
    return new Scope(this.#fold, { name: this.#fold(name), before: this.#last });
  }
}
