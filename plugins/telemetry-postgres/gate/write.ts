import type { TableName } from '../../../src/contract/telemetry/index.ts';
import type { Place } from './check.ts';
import type { Token } from './tokens.ts';

/** The canonical SQL with holes where telemetry tables stand. Writing it again is a concatenation. */
export class Template {
  /** Text, or the table that stands there. */
  readonly #pieces: readonly (string | { readonly table: TableName; readonly alias: string })[];

  /** `unlike`: what to throw where the text is not what the tree says, since a table's name must never be sent. */
  constructor(tokens: readonly Token[], places: readonly Place[], unlike: () => Error) {
    const at = new Map(places.map((place) => [place.location, place]));
    const pieces: (string | { readonly table: TableName; readonly alias: string })[] = [];
    let text: string[] = [];
    for (let index = 0; index < tokens.length; index += 1) {
      const token = tokens[index];
      if (token === undefined) break;
      const place = at.get(token.location);
      if (place === undefined) {
        text.push(token.sql);
        continue;
      }
      if (!isTable(tokens, index, place)) throw unlike();
      at.delete(token.location);
      // `otel.spans.name` → `spans.name`: the subquery that stands for the table has no schema.
      if (place.kind === 'qualifier') {
        index += 1;
        continue;
      }
      index += 2;
      // `FROM otel.spans *` is the table with its descendants, as without the star.
      if (tokens[index + 1]?.sql === '*') index += 1;
      // TABLE takes a name, not a subquery.
      if (text.at(-1)?.toLowerCase() === 'table') text.splice(-1, 1, 'SELECT', '*', 'FROM');
      pieces.push(text.join(' '), { table: place.table, alias: place.aliased ? '' : ` AS ${place.table}` });
      text = [];
    }
    if (at.size > 0) throw unlike();
    this.#pieces = text.length === 0 ? pieces : [...pieces, text.join(' ')];
  }

  write(relation: (table: TableName) => string): string {
    return this.#pieces
      .map((piece) => (typeof piece === 'string' ? piece : `${relation(piece.table)}${piece.alias}`))
      .join(' ');
  }
}

/** Whether `otel.<table>` begins here, written plainly: not as U&"\006ftel". */
function isTable(tokens: readonly Token[], index: number, { table }: Place): boolean {
  const [schema, dot, name] = tokens.slice(index, index + 3).map(({ sql }) => sql);
  const plain = (written = '') => (written.startsWith('"') ? written.slice(1, -1) : written.toLowerCase());
  return plain(schema) === 'otel' && dot === '.' && plain(name) === table;
}
