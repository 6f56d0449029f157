import type { DialectWriter } from '../../../contract/telemetry/index.ts';
import { callAt, isName, write, type Caution, type Cure, type Source, type Statement, type Token } from './tokens.ts';

const maps: ReadonlySet<string> = new Set(['attributes', 'resource_attributes']);
const numericSigns: ReadonlySet<string> = new Set(['=', '==', '<>', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/']);
const numericTypes = /^(int|integer|bigint|smallint|int64|int32|float|float64|double|numeric|decimal|real)$/;

/** How to read a key of the map that these tokens name; undefined where they name another value. */
export function attributeText(map: readonly Token[], key: string, writer: DialectWriter): string | undefined {
  const last = map.at(-1);
  if (last === undefined || !maps.has(last.text) || map.length > 3) return undefined;
  return writer.attribute(map.map(({ text }) => text).join(''), key);
}

/** `attributes['k'] >= 500`, `attributes['k']::int` and `avg(attributes['k'])`, or what the dialect writes for these. */
export function attributeAsNumber(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const read = attributeAt(tokens, at);
  if (read === undefined) return undefined;
  const [sign, then] = [tokens[read.end + 1], tokens[read.end + 2]];
  const isCast = sign?.text === '::' && numericTypes.test(then?.text ?? '');
  const isCompared = sign?.kind === 'sign' && numericSigns.has(sign.text) && then?.kind === 'number';
  const isAveraged =
    sign?.text === ')' &&
    tokens[read.start - 1]?.text === '(' &&
    /^(avg|sum)$/.test(tokens[read.start - 2]?.text ?? '');
  if (!isCompared && !isCast && !isAveraged) return undefined;
  if (isCast && !statement.misfits) return undefined;
  const writer = statement.dialect.write;
  const number = writer.number(writer.attribute(read.map, read.name));
  return write(
    statement,
    tokens[read.start],
    tokens[isCast ? read.end + 2 : read.end],
    number,
    'Attributes are text. ',
  );
}

interface AttributeRead {
  /** The map, with what qualifies it. */
  readonly map: string;
  readonly name: string;
  /** Indexes of its first and last token. */
  readonly start: number;
  readonly end: number;
}

function attributeAt(tokens: readonly Token[], at: number): AttributeRead | undefined {
  const map = tokens[at];
  if (map?.kind !== 'word' || !maps.has(map.text)) return undefined;
  const [open, key, close] = [tokens[at + 1], tokens[at + 2], tokens[at + 3]];
  if (key?.kind !== 'string') return undefined;
  const isQualified = tokens[at - 1]?.text === '.';
  const qualified = isQualified ? `${tokens[at - 2]?.text ?? ''}.${map.text}` : map.text;
  const read = { map: qualified, name: key.text, start: isQualified ? at - 2 : at };
  if (open?.text === '[' && close?.text === ']') return { ...read, end: at + 3 };
  return open?.text === '->>' ? { ...read, end: at + 2 } : undefined;
}

/** `attributes -> 'k'` and `attributes ? 'k'`, where no operator is so written. */
export function attributeByArrow(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [map, sign, key] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (map?.kind !== 'word' || !maps.has(map.text) || key?.kind !== 'string') return undefined;
  if ((sign?.text !== '->' && sign?.text !== '?') || statement.dialect.name === 'postgres') return undefined;
  const read = statement.dialect.write.attribute(map.text, key.text);
  return write(statement, map, key, sign.text === '?' ? `${read} <> ''` : read);
}

/** `attributes.http.route`, which in BigQuery looks for an object `http` and finds none. */
export function pathByDot(tokens: readonly Token[], at: number, { dialect }: Source): Caution | undefined {
  const read = dialect.name === 'bigquery' ? dotted(tokens, at, dialect.write) : undefined;
  if (read === undefined || read.words < 2) return undefined;
  const { first, last, text } = read;
  return {
    text: `A key of attributes has dots, and is no path. Write ${text}.`,
    edit: { start: first.start, end: last.end, text },
  };
}

/** `attributes.http.route`, where nothing is so read. */
export function attributeByDot(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const read = dotted(tokens, at, statement.dialect.write);
  return read && write(statement, read.first, read.last, read.text, 'An attribute is read by its whole key. ');
}

function dotted(tokens: readonly Token[], at: number, writer: DialectWriter) {
  const first = tokens[at];
  if (first?.kind !== 'word' || !maps.has(first.text)) return undefined;
  const words: Token[] = [];
  for (let next = at + 1; tokens[next]?.text === '.'; next += 2) {
    const word = tokens[next + 1];
    // BigQuery's double quotes hold a text.
    if (word === undefined || (!isName(word) && word.kind !== 'string')) break;
    words.push(word);
  }
  const last = words.at(-1);
  const key = words.map(({ text }) => text).join('.');
  return last && { first, last, words: words.length, text: writer.attribute(first.text, key) };
}

/** First parts of the keys of OpenTelemetry's semantic conventions; of the second, what describes the sender. */
const namespaces: ReadonlySet<string> = new Set(
  'http url db rpc net network server client messaging exception code user_agent error faas gen_ai peer thread event'.split(
    ' ',
  ),
);
const resourceNamespaces: ReadonlySet<string> = new Set(
  'service host k8s container process os cloud telemetry deployment'.split(' '),
);
const columnsOfKeys: Readonly<Record<string, string>> = {
  'service.name': 'service_name',
  'service.version': 'service_version',
  'deployment.environment': 'deployment_environment',
  'deployment.environment.name': 'deployment_environment',
};

/** `http.route`, `"http.route"` and `http_route` as if they were columns. */
export function attributeAsColumn(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const token = tokens[at];
  if (token === undefined || !isName(token) || tokens[at - 1]?.text === '.' || tokens[at + 1]?.text === '(')
    return undefined;
  if (statement.columns.has(token.text)) return undefined;
  const parts = [token.text];
  let last = at;
  while (tokens[last + 1]?.text === '.' && tokens[last + 2]?.kind === 'word') {
    parts.push(tokens[last + 2]?.text ?? '');
    last += 2;
  }
  const isBare = parts.length === 1 && token.kind === 'word';
  // Of `http_response_status_code` nobody can tell where the dots are.
  const key = isBare ? /^[a-z]+(_[a-z]+)?$/.exec(token.text)?.[0].replace('_', '.') : parts.join('.');
  const [space = ''] = key?.split('.') ?? [];
  if (key?.includes('.') !== true || statement.given.has(isBare ? token.text : space)) return undefined;
  const column = columnsOfKeys[key];
  const map = resourceNamespaces.has(space) ? 'resource_attributes' : namespaces.has(space) ? 'attributes' : undefined;
  if (map === undefined) return undefined;
  return write(statement, token, tokens[last], column ?? statement.dialect.write.attribute(map, key));
}

const keyLists: ReadonlySet<string> = new Set(
  'map_keys mapkeys jsonb_object_keys json_object_keys json_keys object_keys'.split(' '),
);

/** What lists the keys of a map: SHOW ATTRIBUTES does it everywhere, and at once. */
export function keysOfMap(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const call = callAt(tokens, at, statement.sql);
  if (call === undefined || !keyLists.has(call.name) || !maps.has(call.args[0]?.tokens.at(-1)?.text ?? ''))
    return undefined;
  const table = /\botel\W{1,3}(spans|metrics|logs)/i.exec(statement.sql)?.[1]?.toLowerCase() ?? 'spans';
  const from = statement.dialect.write.unnestMap('s.attributes', 'a');
  return {
    advice: `SHOW ATTRIBUTES FROM otel.${table} lists the keys. To count them, unnest in FROM and group what comes out: SELECT a.key, count(*) FROM otel.${table} AS s, ${from} GROUP BY a.key.`,
    sql: `SHOW ATTRIBUTES FROM otel.${table}`,
  };
}
