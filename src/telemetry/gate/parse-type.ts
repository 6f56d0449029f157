import { tokenize } from './lexer.ts';
import { type Parser, Tokens } from './tokens.ts';
import type { Type, TypeArgument } from './tree.ts';

/** `Nullable(String)`, `DateTime64(3, 'UTC')`, `Tuple(a Int64)`, `ARRAY<STRUCT<a INT64>>`, `NUMERIC(10, 2)`. */
export function parseType(parser: Parser): Type {
  const { tokens } = parser;
  return tokens.deeper(() => {
    const { text: name, start } = tokens.name();
    if (parser.dialect === 'bigquery' && tokens.is('<')) {
      tokens.next();
      const inner = tokens.list(() => parseArgument(parser));
      // `>>` closes two.
      if (!tokens.closeAngle()) throw tokens.unexpected('>');
      return { name, start, arguments: inner };
    }
    return { name, start, arguments: tokens.take('(') ? tokens.bracketed(() => parseArgument(parser)) : [] };
  });
}

/** A type in a string: `CAST(x, 'Array(String)')`. */
export function parseTypeText(parser: Parser, text: string, start: number): Type {
  const { faults } = parser.tokens;
  const tokens = new Tokens(tokenize(text, parser.grammar, faults), faults);
  const type = parseType({ ...parser, tokens });
  if (tokens.peek().kind !== 'end')
    throw faults.refuse('sql_syntax', 'This names no type.', start, 'Write CAST(x AS String).');
  return { ...type, start };
}

function parseArgument(parser: Parser): TypeArgument {
  const { tokens } = parser;
  const token = tokens.peek();
  if (token.kind === 'number') return { kind: 'number', text: tokens.next().text };
  if (token.kind === 'string') return { kind: 'string', value: tokens.next().value };
  const after = tokens.peek(1).kind;
  if (after === 'word' || after === 'quoted') return { kind: 'type', name: tokens.name(), type: parseType(parser) };
  return { kind: 'type', type: parseType(parser) };
}
