import type { DialectWriter } from '../../../contract/telemetry/index.ts';
import {
  callAt,
  isName,
  textOf,
  write,
  type Caution,
  type Cure,
  type Source,
  type Statement,
  type Token,
} from './tokens.ts';

const maps: ReadonlySet<string> = new Set(['attributes', 'resource_attributes', 'scope_attributes']);
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
  if (read === undefined || tokens[read.start - 1]?.text === '.') return undefined;
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
  const isQualified = tokens[at - 1]?.text === '.' && tokens[at - 2]?.text !== ']';
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
  const first = tokens[at - 1]?.text === '.' ? at - 2 : at;
  const read = statement.dialect.write.attribute(textOf(statement, tokens[first], map), key.text);
  return write(statement, tokens[first], key, sign.text === '?' ? isThere(read, tokens, first) : read);
}

/** Whether a key is there. Absent is NULL in some dialects, of which NOT makes NULL again, and no row is found. */
export function isThere(read: string, tokens: readonly Token[], at: number): string {
  const before = tokens[at - 1]?.text === '(' ? tokens[at - 2] : tokens[at - 1];
  return before?.text === 'not' ? `coalesce(${read}, '') <> ''` : `${read} <> ''`;
}

/** `attributes['k'][1]`: a map gave a list in older DuckDB, and gives the value here, of which [1] takes a character. */
export function subscripted(tokens: readonly Token[], at: number, { sql, dialect }: Source): Caution | undefined {
  const read = dialect.name === 'duckdb' ? attributeAt(tokens, at) : undefined;
  if (read === undefined || tokens[read.end]?.text !== ']') return undefined;
  const open = tokens[read.end + 1]?.text === ')' ? read.end + 2 : read.end + 1;
  const isFromEnd = tokens[open + 1]?.text === '-';
  const close = open + (isFromEnd ? 3 : 2);
  const [first, index, last] = [tokens[open], tokens[close - 1], tokens[close]];
  if (first?.text !== '[' || last?.text !== ']' || !/^\d+$/.test(index?.text ?? '')) return undefined;
  // The first digit of a status code is its class: compared with one character or joined, one is meant.
  const around = [read.start - 2, read.start - 1, close + 1, close + 2, close + 3].map((place) => tokens[place]);
  if (around.some((token) => token?.text === '|' || (token?.kind === 'string' && token.text.length === 1)))
    return undefined;
  const whole = sql.slice(tokens[read.start]?.start, tokens[read.end]?.end);
  const taken = !isFromEnd && index?.text === '1' ? 'its first character' : 'one character of it';
  return {
    text: `${whole} is the value itself; ${sql.slice(first.start, last.end)} takes ${taken}. Write ${whole}.`,
    edit: { start: first.start, end: last.end, text: '' },
  };
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
const columnsOfKeys: ReadonlyMap<string, string> = new Map([
  ['service.name', 'service_name'],
  ['service.version', 'service_version'],
  ['deployment.environment', 'deployment_environment'],
  ['deployment.environment.name', 'deployment_environment'],
]);

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
  const column = columnsOfKeys.get(key);
  const map = resourceNamespaces.has(space) ? 'resource_attributes' : namespaces.has(space) ? 'attributes' : undefined;
  if (map === undefined) return undefined;
  return write(statement, token, tokens[last], column ?? statement.dialect.write.attribute(map, key));
}

/** Keys that the semantic conventions renamed, with their present names. */
const namesNow: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'http.method': 'http.request.method',
    'http.status_code': 'http.response.status_code',
    'http.url': 'url.full',
    'http.target': 'url.path',
    'http.scheme': 'url.scheme',
    'http.host': 'server.address',
    'http.server_name': 'server.address',
    'http.client_ip': 'client.address',
    'http.flavor': 'network.protocol.version',
    'http.user_agent': 'user_agent.original',
    'http.request_content_length': 'http.request.body.size',
    'http.response_content_length': 'http.response.body.size',
    'net.peer.name': 'server.address',
    'net.peer.port': 'server.port',
    'net.peer.ip': 'network.peer.address',
    'net.host.name': 'server.address',
    'net.host.port': 'server.port',
    'net.sock.peer.addr': 'network.peer.address',
    'net.transport': 'network.transport',
    'net.protocol.name': 'network.protocol.name',
    'net.protocol.version': 'network.protocol.version',
    'db.statement': 'db.query.text',
    'db.system': 'db.system.name',
    'db.operation': 'db.operation.name',
    'db.name': 'db.namespace',
    'db.sql.table': 'db.collection.name',
    'db.mongodb.collection': 'db.collection.name',
    'messaging.destination': 'messaging.destination.name',
    'messaging.operation': 'messaging.operation.type',
    'messaging.message_id': 'messaging.message.id',
    'messaging.kafka.consumer_group': 'messaging.consumer.group.name',
    'messaging.kafka.partition': 'messaging.destination.partition.id',
    'rpc.system': 'rpc.system.name',
    'rpc.grpc.status_code': 'rpc.response.status_code',
    'code.function': 'code.function.name',
    'code.filepath': 'code.file.path',
    'code.lineno': 'code.line.number',
    'gen_ai.system': 'gen_ai.provider.name',
    'enduser.id': 'user.id',
    'deployment.environment': 'deployment.environment.name',
  }),
);

/** A key of a table's own map, in any way of reading one. */
export interface KeyRead {
  readonly map: string;
  /** What qualifies the map, with its dot. */
  readonly qualifier: string;
  /** The table that is so called; undefined where nothing qualifies the map. */
  readonly table: string | undefined;
  readonly key: string;
}

export function keyReadAt(tokens: readonly Token[], at: number): KeyRead | undefined {
  const [map, sign, literal] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (map?.kind !== 'word' || !maps.has(map.text) || literal?.kind !== 'string') return undefined;
  if (!['[', '->', '->>', '?', ','].includes(sign?.text ?? '')) return undefined;
  const key = literal.text.replace(/^\$\.?/, '').replaceAll('"', '');
  if (tokens[at - 1]?.text !== '.') return { map: map.text, qualifier: '', table: undefined, key };
  const name = tokens[at - 2]?.text ?? '';
  const table = tableCalled(tokens, name);
  return table === undefined ? undefined : { map: map.text, qualifier: `${name}.`, table, key };
}

/** Of `FROM otel.spans AS s` the table for `s`, and for its own name. */
function tableCalled(tokens: readonly Token[], name: string): string | undefined {
  const own = /^(?:otel\.)?(spans|metrics|logs)$/;
  const alias = tokens.findIndex(({ text }, at) => {
    const before = tokens[at - 1]?.text === 'as' ? tokens[at - 2] : tokens[at - 1];
    return text === name && own.test(before?.text ?? '');
  });
  const before = tokens[alias - 1]?.text === 'as' ? tokens[alias - 2] : tokens[alias - 1];
  return own.exec(before?.text ?? name)?.[1];
}

/** Where senders put what a key stands for elsewhere: another name, another map, a column. As SQL, and the keys in it. */
export function otherReads(
  { qualifier, map, key }: KeyRead,
  write: DialectWriter,
): readonly { readonly read: string; readonly shown: string; readonly key?: string }[] {
  const column = columnsOfKeys.get(key);
  const now = namesNow.get(key);
  const before = [...namesNow].flatMap(([old, name]) => (name === key ? old : []));
  const mapOf = (name: string) =>
    resourceNamespaces.has(name.split('.')[0] ?? '') ? 'resource_attributes' : 'attributes';
  const isKnown = /^[a-z_0-9]+\./.test(key) && (namespaces.has(key.split('.')[0] ?? '') || mapOf(key) !== 'attributes');
  const names = [...(isKnown && mapOf(key) !== map ? [key] : []), ...(now === undefined ? [] : [now]), ...before];
  return [
    ...(column === undefined ? [] : [{ read: column, shown: qualifier + column }]),
    ...names.map((name) => ({
      read: write.attribute(mapOf(name), name),
      shown: write.attribute(qualifier + mapOf(name), name),
      key: name,
    })),
  ];
}

/** The present name of a key that the semantic conventions renamed. */
export function keyNow(key: string): string | undefined {
  return namesNow.get(key);
}

const keyLists: ReadonlySet<string> = new Set(
  'map_keys mapkeys jsonb_object_keys json_object_keys json_keys object_keys'.split(' '),
);

/** What lists the keys of a map: SHOW ATTRIBUTES does it everywhere, and at once. */
export function keysOfMap(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const call = callAt(tokens, at, statement.sql);
  if (call === undefined || !keyLists.has(call.name) || !maps.has(call.args[0]?.tokens.at(-1)?.text ?? ''))
    return undefined;
  if (!statement.misfits && statement.dialect.functions.includes(call.name)) return undefined;
  const table = /\botel\W{1,3}(spans|metrics|logs)/i.exec(statement.sql)?.[1]?.toLowerCase() ?? 'spans';
  const from = statement.dialect.write.unnestMap('s.attributes', 'a');
  return {
    advice: `SHOW ATTRIBUTES FROM otel.${table} lists the keys. To count them, unnest in FROM and group what comes out: SELECT a.key, count(*) FROM otel.${table} AS s, ${from} GROUP BY a.key.`,
    sql: `SHOW ATTRIBUTES FROM otel.${table}`,
  };
}
