export interface Promql {
  /** What is read: names of series, each with the labels it is asked by. */
  readonly selectors: readonly { readonly name: string; readonly labels: readonly string[] }[];
  /** Labels of `by`. */
  readonly grouping: readonly string[];
}

const words = new Set([
  'and',
  'by',
  'histogram_quantile',
  'increase',
  'max',
  'min_over_time',
  'or',
  'rate',
  'sum',
  'unless',
]);

/** As much of PromQL as our expressions are written in. Throws where parentheses or braces do not close. */
export function readPromql(expression: string): Promql {
  const unquoted = expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
  for (const [open, close] of [
    ['(', ')'],
    ['{', '}'],
    ['[', ']'],
  ] as const) {
    const count = (character: string): number => unquoted.split(character).length;
    if (count(open) !== count(close)) throw new Error(`parentheses do not close: ${expression}`);
  }
  const grouping: string[] = [];
  const rest = unquoted.replaceAll(/\[\d+[smh]\]/g, '').replaceAll(/\bby \(([^)]*)\)/g, (_whole, labels: string) => {
    grouping.push(...labels.split(',').map((label) => label.trim()));
    return '';
  });
  const selectors = [...rest.matchAll(/\b([a-zA-Z_][a-zA-Z0-9_]*)(?:\{([^}]*)\})?/g)]
    .filter(([whole, name = '']) => !words.has(whole) && !words.has(name))
    .map(([, name = '', matchers = '']) => ({
      name,
      labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!=|!~|=)/g)].map(([, label = '']) => label),
    }));
  return { selectors, grouping };
}
