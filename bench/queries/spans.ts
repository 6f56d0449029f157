/** How an engine says what the data is made of. Arithmetic, `||`, CASE and left() are the same in all of them. */
export interface Words {
  /** Whole numbers, rounded down. */
  divide(number: string, by: number): string;
  md5(text: string): string;
  text(value: string): string;
  map(entries: Readonly<Record<string, string>>): string;
  /** @param micros since 1970. */
  time(micros: string): string;
  /** Rows with one column `i`: `count` whole numbers beginning with `first`. */
  numbers(first: number, count: number): string;
}

export interface Window {
  readonly start: Date;
  /** Exclusive. */
  readonly end: Date;
}

export interface Data extends Window {
  readonly spans: number;
}

const spansPerTrace = 10;
const [services, operations] = [20, 200];
/** Of a load by one statement. */
const stepRows = 500_000;

/** So many spans over the last 24 whole hours. */
export function dataOf(spans: number): Data {
  const end = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  return { spans, start: new Date(end - 86_400_000), end: new Date(end) };
}

/**
 * Span number i is the same in every engine: ten to a trace and traces in the order of time, 20 services of ten operations,
 * two of a hundred failed, five or six attributes. It is by what the engine itself computes, since that loads fastest.
 */
function columnsOf(words: Words, { spans, start }: Data): Readonly<Record<string, string>> {
  const { divide, md5, text, map, time } = words;
  const apartMicros = Math.floor(86_400_000_000 / Math.ceil(spans / spansPerTrace));
  const micros = `${start.getTime() * 1_000} + trace * ${apartMicros} + place * 137`;
  const nanos = `1000000 * (1 + op % 37) + (i * 69069 % 1000003) * 20 * (1 + op % 7)`;
  const id = (place: string) => `left(${md5(`'span ' || ${text('trace')} || '.' || ${text(place)}`)}, 16)`;
  const service = `'service-' || ${text(divide('op', operations / services))}`;
  const route = `'/api/v1/resources-' || ${text('op')} || '/{id}'`;
  const method = `CASE WHEN op % 4 = 0 THEN 'POST' ELSE 'GET' END`;
  const attributes = {
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': `CASE WHEN failed = 1 THEN '500' ELSE '200' END`,
    'server.address': `'host-' || ${text('i % 50')}`,
    'user.id': `'user-' || ${text('i * 40503 % 100000')}`,
  };
  return {
    time: time(micros),
    start_time: time(micros),
    end_time: time(`${micros} + ${divide(`(${nanos})`, 1_000)}`),
    duration_nano: nanos,
    trace_id: md5(`'trace ' || ${text('trace')}`),
    span_id: id('place'),
    parent_span_id: `CASE WHEN place = 0 THEN '' ELSE ${id(divide('place', 2))} END`,
    trace_state: `''`,
    flags: '1',
    name: `${method} || ' ' || ${route}`,
    kind: `CASE WHEN place = 0 THEN 'SERVER' WHEN place % 3 = 0 THEN 'CLIENT' ELSE 'INTERNAL' END`,
    status_code: `CASE WHEN failed = 1 THEN 'ERROR' ELSE 'UNSET' END`,
    status_message: `CASE WHEN failed = 1 THEN 'upstream did not answer' ELSE '' END`,
    service_name: service,
    service_version: `'1.4.2'`,
    deployment_environment: `'production'`,
    attributes: `CASE WHEN failed = 1 THEN ${map({ ...attributes, 'error.type': `'timeout'` })} ELSE ${map(attributes)} END`,
    resource_attributes: map({
      'service.name': service,
      'service.version': `'1.4.2'`,
      'deployment.environment.name': `'production'`,
      'host.name': `'node-' || ${text('op % 8')}`,
    }),
    scope_name: `'bench'`,
    scope_version: `'1'`,
  };
}

/** Of one that lies in the middle. */
export function traceIdOf(words: Words, { spans }: Data): string {
  return words.md5(`'trace ${Math.floor(spans / spansPerTrace / 2)}'`);
}

export interface Table {
  readonly name: string;
  /** Columns with SQL of their own; undefined for one that the table does not have. */
  readonly others: Readonly<Record<string, string | undefined>>;
}

/** INSERT statements that one after another put all spans into a table. */
export function* inserts(words: Words, data: Data, { name, others }: Table): Generator<string> {
  const columns = Object.entries({ ...columnsOf(words, data), ...others }).filter(([, sql]) => sql !== undefined);
  const names = columns.map(([column]) => `"${column}"`).join(', ');
  const values = columns.map(([, sql]) => sql).join(', ');
  for (let first = 0; first < data.spans; first += stepRows) {
    const rows = words.numbers(first, Math.min(stepRows, data.spans - first));
    const drawn = `SELECT i, (i * 2654435761 % 4294967291) % ${operations} AS op, i % ${spansPerTrace} AS place,
      ${words.divide('i', spansPerTrace)} AS trace, CASE WHEN (i * 40503 % 1000003) % 50 = 0 THEN 1 ELSE 0 END AS failed
      FROM ${rows}`;
    yield `INSERT INTO ${name} (${names}) SELECT ${values} FROM (${drawn}) AS drawn`;
  }
}
