import { byNames, type GatePolicy } from '../../contract/telemetry/index.ts';

const maxNear = 40;

/** A policy's functions, found by the spelling of a caller and written in the policy's own. */
export class FunctionNames {
  readonly #exact: ReadonlySet<string>;
  readonly #folded: ReadonlyMap<string, string>;
  readonly #isCaseSensitive: boolean;

  constructor(functions: ReadonlySet<string>, isCaseSensitive: boolean) {
    this.#exact = functions;
    this.#folded = new Map([...functions].map((name) => [name.toLowerCase(), name]));
    this.#isCaseSensitive = isCaseSensitive;
  }

  static of(policy: GatePolicy): FunctionNames {
    return new FunctionNames(policy.functions, policy.functionNamesAreCaseSensitive);
  }

  find(name: string): string | undefined {
    if (this.#isCaseSensitive && this.#exact.has(name)) return name;
    return this.#folded.get(name.toLowerCase());
  }

  /** Names that begin like it and are about as long: comparing with all thousands would take half a second. */
  near(name: string): readonly string[] {
    const beginning = name.slice(0, 2).toLowerCase();
    const difference = (candidate: string): number => Math.abs(candidate.length - name.length);
    return [...this.#folded]
      .filter(([folded]) => folded.startsWith(beginning) && difference(folded) < 4)
      .map(([, candidate]) => candidate)
      .toSorted((a, b) => difference(a) - difference(b))
      .slice(0, maxNear);
  }
}

/** How tightly operators bind: a higher number binds tighter. Both sides of one number bind to the left. */
export interface Grammar {
  /** Text in double quotes is a string, not a name. */
  readonly doubleQuotedStrings: boolean;
  /** `#` begins a comment anywhere, not only before a blank. */
  readonly hashComments: boolean;
  /** `r'…'` and `'''…'''`. */
  readonly rawAndTripleStrings: boolean;
  /** ORDER BY and LIMIT after a UNION belong to all of it, not to its last branch. */
  readonly orderOfWholeUnion: boolean;
  readonly namesAreCaseSensitive: boolean;
  readonly operators: ReadonlySet<string>;
  readonly binary: Readonly<Record<string, number>>;
  /** LIKE and IN. */
  readonly predicate: number;
  readonly between: number;
  /** IS NULL, IS DISTINCT FROM. */
  readonly is: number;
  readonly not: number;
  readonly sign: number;
}

const clickhouse: Grammar = {
  doubleQuotedStrings: false,
  hashComments: false,
  rawAndTripleStrings: false,
  orderOfWholeUnion: false,
  namesAreCaseSensitive: true,
  operators: new Set('<=> :: -> || == != <> <= >= + - * / % = < > ( ) [ ] , . ? :'.split(' ')),
  binary: byNames([
    [3, 'OR'],
    [4, 'AND'],
    [9, '= != < > <= >= <=>'],
    [10, '||'],
    [11, '+ -'],
    [12, '* / % DIV MOD'],
  ]),
  predicate: 9,
  between: 7,
  is: 6,
  not: 5,
  sign: 13,
};

const bigquery: Grammar = {
  doubleQuotedStrings: true,
  hashComments: true,
  rawAndTripleStrings: true,
  orderOfWholeUnion: true,
  namesAreCaseSensitive: false,
  operators: new Set('|| << >> != <> <= >= + - * / = < > & | ^ ~ ( ) [ ] , .'.split(' ')),
  binary: byNames([
    [3, 'OR'],
    [4, 'AND'],
    [6, '= != < > <= >='],
    [7, '|'],
    [8, '^'],
    [9, '&'],
    [10, '<< >>'],
    [11, '+ -'],
    [12, '* / ||'],
  ]),
  predicate: 6,
  between: 6,
  is: 6,
  not: 5,
  sign: 13,
};

export const grammars: Readonly<Record<GatePolicy['dialect'], Grammar>> = { clickhouse, bigquery };
