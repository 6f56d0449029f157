import type { Faults } from './fault.ts';

/** Of nodes below nodes: a row of operators nests as deep as it is long. */
const maxHeight = 1_500;

/** Expressions by the names that they are given anywhere in the statement, lower case. */
export type Given = ReadonlyMap<string, readonly Expression[]>;

/** Refuses trees so tall that walking them could overflow the stack; walks without one itself. */
export function surveyed(query: Query, faults: Faults): Given {
  const given = new Map<string, Expression[]>();
  const open: { readonly value: object; readonly height: number }[] = [{ value: query, height: 0 }];
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    const { value, height } = item;
    if (height > maxHeight) {
      const hint = 'Use IN (…) for a long row of OR, and ask in several smaller statements.';
      throw faults.refuse('sql_refused', 'The statement is nested too deeply.', undefined, hint);
    }
    if (isGiven(value)) {
      const name = value.name.text.toLowerCase();
      const expression = value.kind === 'alias' ? value.operand : value.value;
      given.set(name, [...(given.get(name) ?? []), expression]);
    }
    const inner: readonly unknown[] = Object.values(value);
    for (const child of inner)
      if (typeof child === 'object' && child !== null) open.push({ value: child, height: height + 1 });
  }
  return given;
}

type GivenName = Extract<Expression, { readonly kind: 'alias' }> | Extract<WithItem, { readonly kind: 'value' }>;

function isGiven(value: object): value is GivenName {
  return 'kind' in value && (value.kind === 'alias' || value.kind === 'value') && 'name' in value;
}

/** What the gate understands of a statement. There is no node for anything else, so nothing else can be written. */
export interface Name {
  readonly text: string;
  readonly quoted: boolean;
  /** Offset in the caller's SQL. */
  readonly start: number;
}

export type Expression =
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'string'; readonly value: string }
  /** NULL, TRUE, FALSE, inf, nan. */
  | { readonly kind: 'constant'; readonly text: string }
  /** `TIMESTAMP '…'` */
  | { readonly kind: 'typed'; readonly type: string; readonly value: string }
  | { readonly kind: 'name'; readonly parts: readonly Name[] }
  | Star
  | Call
  | { readonly kind: 'unary'; readonly operator: 'NOT' | '-' | '~'; readonly operand: Expression }
  | Binary
  | {
      readonly kind: 'between';
      readonly not: boolean;
      readonly operand: Expression;
      readonly low: Expression;
      readonly high: Expression;
    }
  | In
  /** `IS [NOT] NULL`, `IS TRUE` */
  | { readonly kind: 'is'; readonly not: boolean; readonly operand: Expression; readonly what: string }
  | {
      readonly kind: 'case';
      readonly operand?: Expression;
      readonly branches: readonly { readonly when: Expression; readonly result: Expression }[];
      readonly otherwise?: Expression;
    }
  | {
      readonly kind: 'cast';
      readonly safe: boolean;
      /** Written `x::Type`. */
      readonly operator: boolean;
      readonly operand: Expression;
      readonly type: Type;
    }
  | { readonly kind: 'interval'; readonly amount: Expression; readonly unit?: string }
  | { readonly kind: 'extract'; readonly part: string; readonly operand: Expression; readonly zone?: Expression }
  | { readonly kind: 'array'; readonly type?: Type; readonly items: readonly Expression[] }
  | { readonly kind: 'tuple'; readonly items: readonly Expression[] }
  | { readonly kind: 'struct'; readonly type?: Type; readonly items: readonly Expression[] }
  | { readonly kind: 'subscript'; readonly operand: Expression; readonly index: Expression }
  /** `expression.name`, `tuple.1` */
  | { readonly kind: 'field'; readonly operand: Expression; readonly name: Name | number }
  | { readonly kind: 'lambda'; readonly parameters: readonly Name[]; readonly body: Expression }
  | {
      readonly kind: 'conditional';
      readonly condition: Expression;
      readonly yes: Expression;
      readonly no: Expression;
    }
  | { readonly kind: 'subquery'; readonly form: '' | 'EXISTS' | 'ARRAY'; readonly query: Query }
  | { readonly kind: 'alias'; readonly operand: Expression; readonly name: Name };

export interface Star {
  readonly kind: 'star';
  readonly of: readonly Name[];
  readonly except: readonly Name[];
  readonly replace: readonly { readonly value: Expression; readonly name: Name }[];
}

export interface Binary {
  readonly kind: 'binary';
  readonly operator: string;
  readonly left: Expression;
  readonly right: Expression;
}

export interface In {
  readonly kind: 'in';
  readonly not: boolean;
  readonly global: boolean;
  readonly operand: Expression;
  readonly start: number;
  readonly among:
    | { readonly kind: 'list'; readonly items: readonly Expression[] }
    | { readonly kind: 'query'; readonly query: Query }
    | { readonly kind: 'unnest'; readonly value: Expression }
    | { readonly kind: 'value'; readonly value: Expression };
}

export interface Call {
  readonly kind: 'call';
  readonly name: string;
  readonly start: number;
  /** `quantile(0.9)(x)`: the first list. */
  readonly parameters?: readonly Expression[];
  readonly distinct: boolean;
  readonly arguments: readonly Expression[];
  /** `ANY_VALUE(x HAVING MAX y)` */
  readonly having?: { readonly side: 'MAX' | 'MIN'; readonly value: Expression };
  readonly order: readonly Ordering[];
  readonly limit?: Expression;
  readonly filter?: Expression;
  readonly nulls?: 'IGNORE' | 'RESPECT';
  readonly over?: WindowSpecification | Name;
}

export interface Type {
  readonly name: string;
  readonly start: number;
  /** Types, numbers, strings; with a name before it a member of a tuple. */
  readonly arguments: readonly TypeArgument[];
}

export type TypeArgument =
  | { readonly kind: 'type'; readonly name?: Name; readonly type: Type }
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'string'; readonly value: string };

export interface Ordering {
  readonly value: Expression;
  readonly direction?: 'ASC' | 'DESC';
  readonly nulls?: 'FIRST' | 'LAST';
  readonly fill?: Fill;
}

export interface Fill {
  readonly from?: Expression;
  readonly to?: Expression;
  readonly step?: Expression;
}

export interface WindowSpecification {
  readonly base?: Name;
  readonly partition: readonly Expression[];
  readonly order: readonly Ordering[];
  readonly frame?: { readonly unit: string; readonly start: FrameBound; readonly end?: FrameBound };
}

export interface FrameBound {
  readonly side: 'PRECEDING' | 'FOLLOWING' | 'CURRENT ROW';
  /** Absent: UNBOUNDED. */
  readonly distance?: Expression;
}

export interface Query {
  readonly with: readonly WithItem[];
  readonly body: Select | SetOperation;
  /** Of the whole, where the dialect has it so; a Select of the other dialect carries its own here. */
  readonly order: readonly Ordering[];
  readonly interpolate: readonly Expression[] | undefined;
  readonly limitBy?: Limit & { readonly by: readonly Expression[] };
  readonly limit?: Limit;
}

export interface Limit {
  readonly count?: Expression;
  readonly offset?: Expression;
  readonly ties: boolean;
}

export type WithItem =
  /** `recursive`: after WITH RECURSIVE, so that the query may read itself. */
  | { readonly kind: 'table'; readonly name: Name; readonly query: Query; readonly recursive: boolean }
  | { readonly kind: 'value'; readonly name: Name; readonly value: Expression };

export interface SetOperation {
  readonly kind: 'set';
  /** `UNION ALL`, `EXCEPT DISTINCT`, … */
  readonly operator: string;
  readonly left: Query;
  readonly right: Query;
}

export interface Select {
  readonly kind: 'select';
  readonly distinct: boolean;
  readonly distinctOn: readonly Expression[];
  /** `SELECT AS STRUCT` */
  readonly asStruct: boolean;
  readonly items: readonly Expression[];
  readonly from: readonly FromItem[];
  readonly prewhere?: Expression;
  readonly where?: Expression;
  readonly group?: Grouping;
  readonly having?: Expression;
  readonly qualify?: Expression;
  readonly windows: readonly { readonly name: Name; readonly specification: WindowSpecification }[];
}

export interface Grouping {
  readonly all: boolean;
  readonly items: readonly Expression[];
  /** `ROLLUP (…)`, `CUBE (…)`, or `GROUPING SETS (…)` of tuples. */
  readonly form?: 'ROLLUP' | 'CUBE' | 'GROUPING SETS';
  readonly totals: boolean;
}

/** The first has no join. */
export interface FromItem {
  /** `,`, `LEFT JOIN`, `ARRAY JOIN`, …, as it is written. */
  readonly join: string;
  readonly source: Source;
  readonly on?: Expression;
  readonly using: readonly Name[];
}

export type Source =
  | { readonly kind: 'table'; readonly parts: readonly Name[]; readonly alias?: Name }
  | { readonly kind: 'query'; readonly query: Query; readonly alias?: Name }
  | { readonly kind: 'function'; readonly call: Call; readonly alias?: Name }
  | { readonly kind: 'unnest'; readonly value: Expression; readonly alias?: Name; readonly offset?: Name }
  | { readonly kind: 'arrays'; readonly items: readonly Expression[] };
