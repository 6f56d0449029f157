import {
  bracketsAt,
  callAt,
  textOf,
  write,
  type Argument,
  type Call,
  type Cure,
  type Statement,
  type Token,
} from './tokens.ts';

/** ClickHouse's `quantile(0.95)(x)`, BigQuery's `APPROX_QUANTILES(x, 100)[OFFSET(95)]`, and `percentile_cont(…) WITHIN GROUP`. */
export function quantileCall(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const call = callAt(tokens, at, statement.sql);
  if (call === undefined || !/^(approx_)?(quantiles?(?!s)|quantile_\w+|percentile|median)/.test(call.name))
    return undefined;
  const close = tokens.indexOf(call.last, at);
  const [first, second] = call.args;
  const behind = bracketsAt(tokens, close + 1, statement.sql);
  const { write: writer } = statement.dialect;
  if (behind !== undefined) {
    const share = Number(first?.text ?? '0.5');
    const argument = rankedBy(call, behind.args);
    if (argument === undefined || call.args.length > 1 || Number.isNaN(share)) return undefined;
    return write(statement, call.first, behind.last, writer.quantile(argument, fractionOf(share)));
  }
  const isKnown = statement.dialect.functions.some((name) => name.toLowerCase() === call.name);
  if (tokens[close + 1]?.text === 'within') return withinGroup(tokens, close, call, statement);
  if (first === undefined) return undefined;
  if (tokens[close + 1]?.text === '[') return byOffset(tokens, close, call, statement);
  // With a fraction behind what is ranked, it is right as it is.
  const isRight = second === undefined || (isNumber(second) && Number(second.text) <= 1);
  if (isKnown && (!statement.misfits || isRight)) return undefined;
  if (call.name.endsWith('s')) return undefined;
  const share = call.args.find(isNumber);
  const argument = rankedBy(
    call,
    call.args.filter((each) => !isNumber(each)),
  );
  if (argument === undefined) return undefined;
  return write(statement, call.first, call.last, writer.quantile(argument, fractionOf(Number(share?.text ?? '0.5'))));
}

function isNumber({ tokens: [only, more] }: Argument): boolean {
  return only?.kind === 'number' && more === undefined;
}

/** What is ranked, of `quantileIf` where its condition holds; undefined where more stands there, as a weight or a list. */
function rankedBy({ name }: Call, [value, condition, more]: readonly Argument[]): string | undefined {
  if (value === undefined || more !== undefined) return undefined;
  if (name.endsWith('if')) return condition && `CASE WHEN ${condition.text} THEN ${value.text} END`;
  return condition === undefined ? value.text : undefined;
}

function withinGroup(tokens: readonly Token[], close: number, call: Call, statement: Statement): Cure | undefined {
  const group = bracketsAt(tokens, close + 3, statement.sql);
  const ordered = group?.args[0]?.tokens.slice(2) ?? [];
  const [first, end] = [ordered[0], ordered.at(/^(asc|desc)$/.test(ordered.at(-1)?.text ?? '') ? -2 : -1)];
  const expression = first && end && textOf(statement, first, end);
  const share = Number(call.args[0]?.text);
  if (group === undefined || expression === undefined || Number.isNaN(share)) return undefined;
  const isRight =
    share <= 1 && /^(duckdb|postgres)$/.test(statement.dialect.name) && call.name.startsWith('percentile_');
  if (isRight || ordered.at(-1)?.text === 'desc') return undefined;
  return write(statement, call.first, group.last, statement.dialect.write.quantile(expression, fractionOf(share)));
}

function byOffset(tokens: readonly Token[], close: number, call: Call, statement: Statement): Cure | undefined {
  const end = tokens.findIndex((token, index) => index > close && token.text === ']');
  const place = tokens.slice(close, end).find(({ kind }) => kind === 'number');
  const [argument, buckets] = call.args;
  const share = Number(place?.text) / Number(buckets?.text ?? '1');
  if (argument === undefined || !(share >= 0 && share <= 1)) return undefined;
  return write(statement, call.first, tokens[end], statement.dialect.write.quantile(argument.text, share));
}

function fractionOf(share: number): number {
  return share > 1 ? share / 100 : share;
}
