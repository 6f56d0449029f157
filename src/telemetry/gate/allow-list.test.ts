import { describe, expect, it } from '@jest/globals';
import {
  text,
  type CteScope,
  type Json,
  type Shape,
  type TreeGrammar,
  type Unknown,
} from '../../contract/telemetry/index.ts';
import { Scope, treeWalk } from './allow-list.ts';

interface Found {
  readonly entered: string[];
  readonly scopes: boolean[];
}

const expression: Shape = {
  type: 'plain',
  name: 'plain',
  none: 'absent',
  names: 'names',
  value: 'data',
  kind: { oneOf: ['A', 'B'] },
  child: { node: 'expression' },
  children: { nodes: 'expression' },
  far: { nodes: 'expression', levels: 5 },
  item: { bare: 'item' },
  items: { bares: 'item' },
  even: { own: 'even' },
  query: { node: 'wrapped' },
  noCategory: { node: 'nothing' },
  noType: { bare: 'nothing' },
  noPart: { own: 'nothing' },
  inheritedCategory: { node: 'constructor' },
  inheritedType: { bare: '__proto__' },
  inheritedPart: { own: 'toString' },
};

const item: Shape = { name: 'plain' };

const grammar: TreeGrammar<Found> = {
  maxDepth: 6,
  maxNodes: 10,
  root: { node: 'expression' },
  categories: {
    expression: {
      typeField: 'type',
      shapes: { E: expression, Silent: {} },
      hooks: { E: { enter: ({ state }, node) => void state.entered.push(text(node['name'])) } },
    },
    wrapped: {
      shapes: { Query: { with: 'absent', table: 'plain', inner: { node: 'wrapped' } } },
      hooks: {
        Query: {
          takes: 'with',
          enter: (_walk, node, scope) => (node['with'] === undefined ? undefined : scope.with(text(node['with']))),
          leave: ({ state }, node, scope) => void state.scopes.push(scope.has(text(node['table']))),
        },
      },
    },
  },
  bare: { shapes: { item }, hooks: {} },
  parts: {
    even: (_walk, value) => typeof value === 'number' && value % 2 === 0,
  },
  nullIsNothing: true,
  isName: (value) => typeof value === 'string',
  fold: (name) => name.toLowerCase(),
  unknown: (_found, { type, field }: Unknown) => new Error(`unknown ${type ?? '?'}.${field ?? '?'}`),
};

function walked(tree: Json | undefined, changed: Partial<TreeGrammar<Found>> = {}): Found {
  const found: Found = { entered: [], scopes: [] };
  treeWalk(tree, { ...grammar, ...changed }, found);
  return found;
}

const e = (fields: { readonly [field: string]: Json } = {}): { readonly [field: string]: Json } => ({
  type: 'E',
  ...fields,
});
/** As a parser's JSON has it: own fields of such names, which an object literal would not make. */
const parsed = (json: string): Json => JSON.parse(json);
const nested = (depth: number, field: (child: Json) => { readonly [field: string]: Json }): Json =>
  depth === 0 ? e() : e(field(nested(depth - 1, field)));

describe('a tree of which everything is known', () => {
  it.each<[string, Json]>([
    ['nothing but its type', e()],
    ['scalars', e({ name: 'x', kind: 'B', even: 4 })],
    ['nothing where nothing may stand', e({ none: [] })],
    ['an empty text where nothing may stand', e({ none: '' })],
    ['a false where nothing may stand', e({ none: false })],
    ['names', e({ names: ['a', 'b'] })],
    ['data of any form', e({ value: { upper: 1, of: [{ class: 'x' }] } })],
    ['nodes', e({ child: e(), children: [e(), e()], item: { name: 'x' }, items: [{}, { name: 'x' }] })],
    ['null for what was left out', e({ name: null, none: null, child: null, children: [], items: null })],
    ['wrapped nodes', e({ query: { Query: { table: 't', inner: { Query: {} } } } })],
  ])('is let through: %s', (_what, tree) => {
    expect(() => walked(tree)).not.toThrow();
  });

  it('is entered once a node, the outer before the inner', () => {
    const tree = e({ name: '1', child: e({ name: '2', child: e({ name: '3' }) }), children: [e({ name: '4' })] });
    expect(walked(tree).entered).toEqual(['1', '2', '3', '4']);
  });

  it('may be as deep and as large as the dialect says, and no more', () => {
    const deep = (depth: number) => walked(nested(depth, (child) => ({ child })));
    expect(() => deep(6)).not.toThrow();
    expect(() => deep(7)).toThrow('too large');
    const listed = (depth: number) => walked(nested(depth, (child) => ({ children: [child] })));
    expect(() => listed(6)).not.toThrow();
    expect(() => listed(7)).toThrow('too large');
    expect(() => walked(e({ far: [e({ child: e() })] }))).not.toThrow();
    expect(() => walked(e({ far: [e({ child: e({ child: e() }) })] }))).toThrow('too large');
    const wide = (nodes: number) => walked(e({ items: Array.from({ length: nodes - 1 }, () => ({})) }));
    expect(() => wide(10)).not.toThrow();
    expect(() => wide(11)).toThrow('too large');
  });

  it('is walked to the limit only: what lies below is not read', () => {
    expect(() => walked(nested(5_000, (child) => ({ child })))).toThrow('too large');
  });
});

describe('what is not known is refused', () => {
  it.each<[string, Json | undefined, string]>([
    ['no tree', undefined, 'unknown ?.?'],
    ['a tree that is no node', 'E', 'unknown ?.?'],
    ['a list for a node', [e()], 'unknown ?.?'],
    ['a field', e({ unheard: null }), 'unknown E.unheard'],
    ['a field of a type without any', { type: 'Silent' }, 'unknown Silent.type'],
    ['a type', { type: 'F' }, 'unknown F.?'],
    ['a node without a type', { name: 'x' }, 'unknown .?'],
    ['a type that is no text', { type: ['E'] }, 'unknown .?'],
    ['an object for a scalar', e({ name: { type: 'E' } }), 'unknown E.name'],
    ['a list for a scalar', e({ name: [] }), 'unknown E.name'],
    ['a value where nothing may stand', e({ none: 'x' }), 'unknown E.none'],
    ['a list where nothing may stand', e({ none: [null] }), 'unknown E.none'],
    ['an object where nothing may stand', e({ none: {} }), 'unknown E.none'],
    ['a zero where nothing may stand', e({ none: 0 }), 'unknown E.none'],
    ['a name that is none', e({ names: ['a', { name: 'b' }] }), 'unknown E.names'],
    ['names that are no list', e({ names: 'a' }), 'unknown E.names'],
    ['another literal', e({ kind: 'C' }), 'unknown E.kind'],
    ['a list of literals', e({ kind: ['A'] }), 'unknown E.kind'],
    ['a node that is none', e({ child: 'x' }), 'unknown ?.?'],
    ['a node where a list belongs', e({ children: e() }), 'unknown E.children'],
    ['a null in a list', e({ children: [null] }), 'unknown ?.?'],
    ['a list in a list', e({ children: [[e()]] }), 'unknown ?.?'],
    ['a node without a type that is none', e({ item: 'x' }), 'unknown E.item'],
    ['an unknown field below', e({ child: e({ item: { unheard: 1 } }) }), 'unknown item.unheard'],
    ['what the dialect’s own part does not answer for', e({ even: 3 }), 'unknown E.even'],
    ['a wrapper of two keys', e({ query: { Query: {}, Other: {} } }), 'unknown ?.?'],
    ['a wrapper of none', e({ query: {} }), 'unknown ?.?'],
    ['a wrapper around no node', e({ query: { Query: 'x' } }), 'unknown ?.?'],
    ['an unknown wrapper', e({ query: { Other: {} } }), 'unknown Other.?'],
  ])('%s', (_what, tree, message) => {
    expect(() => walked(tree)).toThrow(message);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])('%s as a field or a type', (key) => {
    expect(() => walked(parsed(`{"type": "E", "${key}": "x"}`))).toThrow(`unknown E.${key}`);
    expect(() => walked(parsed(`{"type": "E", "${key}": {"type": "E"}}`))).toThrow(`unknown E.${key}`);
    expect(() => walked(parsed(`{"type": "${key}"}`))).toThrow(`unknown ${key}.?`);
    expect(() => walked(parsed(`{"type": "E", "query": {"${key}": {}}}`))).toThrow(`unknown ${key}.?`);
    expect(() => walked(parsed(`{"type": "E", "item": {"${key}": {}}}`))).toThrow(`unknown item.${key}`);
  });

  it('a type that only the prototype of the tree tells', () => {
    expect(() => walked(parsed('{"__proto__": {"type": "E"}}'))).toThrow('unknown .?');
  });

  it('null, where the parser writes none', () => {
    for (const field of ['name', 'child', 'items']) {
      expect(() => walked(e({ [field]: null }), { nullIsNothing: false })).toThrow('unknown');
    }
  });

  it.each(['noCategory', 'noType', 'noPart', 'inheritedCategory', 'inheritedType', 'inheritedPart'])(
    'a part that the grammar itself does not have: %s',
    (field) => {
      expect(() => walked(e({ [field]: e() }))).toThrow('unknown');
      expect(() => walked(e({ [field]: {} }))).toThrow('unknown');
    },
  );

  it('a part of no known kind', () => {
    const shapes: Readonly<Record<string, Shape>> = parsedShapes('{"E": {"type": "plain", "name": {"anything": "x"}}}');
    const categories = { expression: { typeField: 'type', shapes, hooks: {} } };
    expect(() => walked(e(), { categories })).not.toThrow();
    expect(() => walked(e({ name: ['x'] }), { categories })).toThrow('unknown E.name');
  });

  it('what a hook hands on and does not fit', () => {
    const parts: TreeGrammar<Found>['parts'] = {
      even(walk, value, scope, depth, node) {
        walk.part('names', value, scope, depth, node);
        return true;
      },
    };
    expect(() => walked(e({ even: ['a'] }), { parts })).not.toThrow();
    expect(() => walked(e({ even: 2 }), { parts })).toThrow('unknown ?.?');
  });

  it('a field that a hook takes, where there is no such hook', () => {
    const { wrapped, ...others } = grammar.categories;
    if (wrapped === undefined) throw new Error('no category');
    const query = e({ query: { Query: { with: 'x' } } });
    expect(() => walked(query)).not.toThrow();
    expect(() => walked(query, { categories: { ...others, wrapped: { ...wrapped, hooks: {} } } })).toThrow(
      'unknown Query.with',
    );
  });
});

function parsedShapes(json: string): Readonly<Record<string, Shape>> {
  return JSON.parse(json);
}

describe('the names that a node sees', () => {
  it('are those of the hooks around it, and not its own', () => {
    const inner = { Query: { table: 'CTE', with: 'other' } };
    expect(walked(e({ query: { Query: { with: 'Cte', table: 'cte', inner } } })).scopes).toEqual([true, false]);
  });

  const empty: CteScope = new Scope((name) => name.toLowerCase());

  it('are known in the form that the dialect compares them in, and not those added inside', () => {
    const outer = empty.with('Recent');
    const inner = outer.with('slow');
    expect([inner.has('recent'), inner.has('SLOW'), inner.has('other')]).toEqual([true, true, false]);
    expect([outer.has('RECENT'), outer.has('slow')]).toEqual([true, false]);
    expect(empty.has('recent')).toBe(false);
  });

  it('grow by one without a copy of those before', () => {
    let scope = empty;
    for (let index = 0; index < 50_000; index += 1) scope = scope.with(`c${index}`);
    expect([scope.has('c0'), scope.has('c49999'), scope.has('c50000')]).toEqual([true, true, false]);
  }, 5_000);
});
