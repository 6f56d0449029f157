/** A config with a mistake that people make, and what has to be said of it. */
export interface BrokenConfig {
  readonly name: string;
  /** `yaml` unless told otherwise. */
  readonly format?: 'json' | 'js';
  readonly text: string;
  /** The place and the cause, as the message has them. */
  readonly says: string;
  /** What to do; absent where `says` has it already. */
  readonly hint?: string;
}

/** In every config where a secret may stand, and never in what is said. */
export const secret = 'hunter2hunter2hunter2hunter2hunter2';

const storage = `storage:\n  client: postgres\n  password: ${secret}\n`;
const postgres = (more: string) => `telemetry:
  plugin: postgres
  url: postgres://sightline:${secret}@db.example:5432/obs
  boundary: { secret: ${secret} }
${more}`;
const spans = (source: string) => postgres(`  mapping: { tables: { spans: ${source} } }\n`);
const clickhouse = (url: string, more = '') =>
  `telemetry: { plugin: clickhouse, url: "${url}", password: ${secret}, tenancy: { boundary: { mode: column, column: app } }${more} }\n`;
const oidc = (more: string) => `issuer:\n  plugin: oidc\n  clientId: abc\n  clientSecret: ${secret}\n${more}`;
const columns = 'The keys of a section stand in one column';
const inQuotes = 'Put a text that begins with *, & or ! into quotes.';
const doubleQuotes = 'In JSON every key and every text stands in double quotes';
const names = 'Give the short name of a shipped plugin, an installed package, or a path';

export const brokenConfigs: readonly BrokenConfig[] = [
  // What cannot be read.
  {
    name: 'a tab',
    text: `storage:\n\tpassword: ${secret}\n`,
    says: 'line 2, column 1: tab characters',
    hint: 'Indent with spaces.',
  },
  {
    name: 'a wrong indent',
    text: `storage:\n  password: ${secret}\n   client: mysql\n`,
    says: 'line 3, column 10: bad indentation',
    hint: columns,
  },
  {
    name: 'an open bracket',
    text: `${storage}limits: [\n`,
    says: 'line 5, column 1: deficient indentation',
    hint: columns,
  },
  {
    name: 'an open quote',
    text: `publicUrl: "https://a.example\n${storage}`,
    says: 'line 2, column 1: deficient indentation',
    hint: columns,
  },
  {
    name: 'no colon',
    text: `storage:\n  password ${secret}\n  client: mysql\n`,
    says: 'line 3, column 9: bad indentation',
    hint: columns,
  },
  {
    name: 'a section twice',
    text: `${storage}storage: {}\n`,
    says: 'line 4, column 1: duplicated mapping key',
    hint: 'Write the section once',
  },
  {
    name: 'a secret with *',
    text: `storage: { password: *${secret} }\n`,
    says: 'line 1, column 23: unidentified alias.',
    hint: inQuotes,
  },
  {
    name: 'a secret with !',
    text: `storage: { password: !${secret} }\n`,
    says: 'line 1, column 22: unknown scalar tag.',
    hint: inQuotes,
  },
  {
    name: 'two documents',
    text: `${storage}---\nlisten: {}\n`,
    says: 'expected a single document',
    hint: 'Remove the line ---',
  },
  { name: 'a list', text: `- ${secret}\n`, says: 'It must hold keys with their values, such as publicUrl' },
  { name: 'a word', text: `${secret}\n`, says: 'It must hold keys with their values, such as publicUrl' },
  {
    name: 'a comma too many',
    format: 'json',
    text: `{"storage":{"password":"${secret}"},}`,
    says: 'line 1, column',
    hint: doubleQuotes,
  },
  {
    name: 'no quotes',
    format: 'json',
    text: `{"storage":{"password":${secret}}}`,
    says: "Unexpected token 'h'",
    hint: doubleQuotes,
  },
  {
    name: 'a cut file',
    format: 'json',
    text: `{"storage":{"password":"${secret}"`,
    says: "Expected ',' or '}' after",
    hint: doubleQuotes,
  },
  {
    name: 'no default export',
    format: 'js',
    text: `export const config = { password: '${secret}' };`,
    says: 'it exports no default. Write export default',
  },
  // Keys that are none.
  {
    name: 'a misspelt section',
    text: `storge: { password: ${secret} }\n`,
    says: 'storge: there is no such key. Did you mean storage?',
  },
  {
    name: 'a misspelt key',
    text: 'listen: { prot: 8080 }\n',
    says: 'listen.prot: there is no such key. Did you mean port?',
  },
  {
    name: 'a key of a plugin',
    text: 'telemetry: { memoryLimit: 5 }\n',
    says: 'telemetry.memoryLimit: there is no such key. Did you mean memoryLimitMb?',
  },
  {
    name: 'a misspelt secret',
    text: `storage: { client: postgres, passwrd: ${secret} }\n`,
    says: 'storage.passwrd: there is no such key. Did you mean password?',
  },
  {
    name: 'a key of elsewhere',
    text: `scim: { token: ${secret} }\n`,
    says: 'scim.token: there is no such key. Keys here are organizations.',
  },
  {
    name: 'no such tool',
    text: 'limits: { toolCallsPerMinute: { query_otle: 5 } }\n',
    says: 'query_otle: there is no such key. Did you mean query_otel?',
  },
  {
    name: 'a key in a list',
    text: oidc('  issuer: https://a.example\n  memberships: [{ group: a, organisation: b }]\n'),
    says: 'memberships[0].organisation: there is no such key. Did you mean organization?',
  },
  {
    name: 'several at once',
    text: `listen: { prot: 1 }\npublicUrl: x\nstorge: { password: ${secret} }\n`,
    says: 'listen.prot: there is no such key. Did you mean port?',
  },
  // Values of another kind.
  {
    name: 'a port in words',
    text: 'listen: { port: eighty }\n',
    says: 'listen.port: must be a whole number from 0 to 65535',
  },
  {
    name: 'a port too high',
    text: 'listen: { port: 99999 }\n',
    says: 'listen.port: must be a whole number from 0 to 65535',
  },
  { name: 'yes', text: 'trustProxy: yes\n', says: 'trustProxy: must be true or false or a whole number from 1 to 8' },
  { name: 'ja', text: 'ingest: { enabled: ja }\n', says: 'ingest.enabled: must be true or false' },
  {
    name: 'a number in words',
    text: postgres('  pool: { max: ten }\n'),
    says: 'telemetry.pool.max: must be a whole number from 1 to 500',
  },
  {
    name: 'a level',
    text: 'log: { level: verbose }\n',
    says: 'log.level: must be debug or info or warn or error or silent',
  },
  {
    name: 'a database',
    text: `storage: { client: oracle, password: ${secret} }\n`,
    says: 'storage.client: must be sqlite or postgres or mysql',
  },
  { name: 'no list', text: 'alerts: { plugin: generic }\n', says: 'alerts: must be a list' },
  {
    name: 'a size in words',
    text: 'costGuard: { maxQueryBytes: lots }\n',
    says: 'costGuard.maxQueryBytes: must be a number of bytes, such as 50GB',
  },
  {
    name: 'never',
    text: 'retention: { chatDays: never }\n',
    says: 'retention.chatDays: must be forever or a whole number from 1 to 36500',
  },
  {
    name: 'no such action',
    text: 'governance: { rules: [{ columns: [body], action: hide }] }\n',
    says: 'governance.rules[0].action: must be deny or mask or hash',
  },
  {
    name: 'no such column',
    text: 'governance: { rules: [{ columns: [bdoy], action: mask }] }\n',
    says: 'governance.rules[0].columns[0]: no column of otel.spans, otel.metrics, otel.logs. Did you mean body?',
  },
  // Addresses.
  { name: 'no scheme', text: 'publicUrl: mcp.example.com\n', says: 'publicUrl: must be an http or https URL' },
  { name: 'another scheme', text: 'authUrl: ftp://a.example\n', says: 'authUrl: must be an http or https URL' },
  {
    name: 'a host as URL',
    text: 'allowedHosts: ["https://a.example"]\n',
    says: 'allowedHosts[0]: must be a host name without scheme or path',
  },
  {
    name: 'an origin without scheme',
    text: 'allowedOrigins: [a.example]\n',
    says: 'allowedOrigins[0]: must be an origin with its scheme',
  },
  {
    name: 'an endpoint without scheme',
    text: `ownTelemetry: { otlp: { endpoint: "a:4317", headers: { authorization: ${secret} } } }\n`,
    says: 'ownTelemetry.otlp.endpoint: must be an http or https URL',
  },
  {
    name: "another database's URL",
    text: `telemetry: { plugin: postgres, url: "mysql://s:${secret}@db/obs" }\n`,
    says: 'telemetry.url: must be postgres://user:password@host:5432/database',
  },
  {
    name: 'a # in a password',
    text: `telemetry: { plugin: postgres, url: "postgres://s:#${secret}@db/obs" }\n`,
    says: 'telemetry.url: must be postgres://user:password@host:5432/database, with %23 for #',
  },
  {
    name: 'the native port',
    text: clickhouse('tcp://ch:9000'),
    says: 'telemetry.url: must be an http or https URL, as ClickHouse has it at port 8123',
  },
  {
    name: 'a provider without TLS',
    text: oidc('  issuer: http://a.example\n'),
    says: 'issuer.issuer: must be an https URL',
  },
  {
    name: 'the common tenant',
    text: oidc('  issuer: https://login.microsoftonline.com/common/v2.0\n'),
    says: 'issuer.issuer: is of all tenants at once: name yours',
  },
  {
    name: 'a model nowhere',
    text: `agent: { plugin: llm, provider: openai, model: m, baseUrl: here, apiKey: ${secret} }\n`,
    says: 'agent.baseUrl: must be an http or https URL',
  },
  // References and files.
  {
    name: 'an unset variable',
    text: 'storage: { client: postgres, url: "${env:NOT_SET_HERE}" }\n',
    says: 'storage.url: the environment variable NOT_SET_HERE is not set.',
    hint: 'Set NOT_SET_HERE, or write ${env:NOT_SET_HERE:-default}.',
  },
  {
    name: 'an absent file',
    text: 'storage: { client: postgres, password: "${file:/nope/password}" }\n',
    says: 'storage.password: the file /nope/password cannot be read.',
    hint: 'Write its absolute path',
  },
  {
    name: 'another reference',
    text: `storage: { password: "\${vault:${secret}}" }\n`,
    says: 'storage.password: ${vault:…} is not known.',
    hint: 'Known are ${env:NAME}',
  },
  {
    name: 'absent certificates',
    text: 'network: { ca: /nope/ca.pem }\n',
    says: 'network.ca: /nope/ca.pem cannot be read as certificates.',
    hint: 'in PEM',
  },
  // Plugins.
  {
    name: 'a misspelt plugin',
    text: 'telemetry: { plugin: duckbd }\n',
    says: '(config key telemetry.plugin) cannot be used: there is no such plugin; shipped are: bigquery',
    hint: names,
  },
  {
    name: 'a misspelt source of alerts',
    text: 'alerts: [{ plugin: grafan }]\n',
    says: '(config key alerts.plugin) cannot be used: there is no such plugin; shipped are: alertmanager',
    hint: names,
  },
  {
    name: 'an absent file of a plugin',
    text: 'agent: { plugin: ./my-agent.ts }\n',
    says: "Cannot find module './my-agent.ts'",
    hint: names,
  },
  {
    name: 'an absent package',
    text: 'telemetry: { plugin: "@acme/telemetry" }\n',
    says: "Cannot find module '@acme/telemetry'",
    hint: names,
  },
  // What plugins want.
  { name: 'no address of storage', text: storage, says: 'storage.url: give url, or host, user and database' },
  {
    name: 'no boundary secret',
    text: `telemetry: { plugin: postgres, url: "postgres://s:${secret}@db/obs" }\n`,
    says: 'telemetry.boundary.secret is missing.',
    hint: 'Set it to 32 random characters or more',
  },
  {
    name: 'a short boundary secret',
    text: `telemetry: { plugin: postgres, url: "postgres://s:${secret}@db/obs", boundary: { secret: short } }\n`,
    says: 'telemetry.boundary.secret: must have 32 characters or more',
  },
  {
    name: 'a login with blanks',
    text: postgres('').replace('secret:', 'login: Sight Line, secret:'),
    says: 'telemetry.boundary.login: must be a name of lower-case letters',
  },
  {
    name: 'no such boundary',
    text: postgres('  tenancy: { boundary: { mode: row, column: a } }\n'),
    says: 'telemetry.tenancy.boundary.mode: must be none or column or',
  },
  {
    name: 'no such preset',
    text: postgres('  mapping: { preset: postgres-exportr }\n'),
    says: 'telemetry.mapping.preset: there is no preset "postgres-exportr".',
    hint: 'Presets: sightline, postgres-exporter.',
  },
  {
    name: 'no such preset of ClickHouse',
    text: clickhouse('http://ch:8123', ', mapping: { preset: otel-colector }'),
    says: 'telemetry.mapping.preset: must be otel-collector or',
  },
  {
    name: 'no such column of spans',
    text: spans('{ from: obs.requests, columns: { tyme: at } }'),
    says: 'telemetry.mapping.tables.spans.columns.tyme: otel.spans has no such column.',
    hint: 'It has time, start_time',
  },
  {
    name: 'no SQL',
    text: spans('{ from: obs.requests, columns: { time: at, status_code: CASE WHEN failed THEN } }'),
    says: 'columns.status_code is no SQL of PostgreSQL: syntax error',
    hint: 'Write one expression',
  },
  {
    name: 'two statements',
    text: spans('{ from: obs.requests; drop table x, columns: { time: at } }'),
    says: 'telemetry.mapping.tables.spans.from holds a semicolon.',
    hint: 'Write one whole expression',
  },
  {
    name: 'a key of a mapping',
    text: spans('{ from: obs.requests, times: at }'),
    says: 'telemetry.mapping.tables.spans.times: there is no such key. Keys here are from',
  },
  { name: 'no project', text: 'telemetry: { plugin: bigquery }\n', says: 'telemetry.projectId: is missing' },
  {
    name: 'a project with blanks',
    text: 'telemetry: { plugin: bigquery, projectId: My Project }\n',
    says: 'telemetry.projectId: must be the id of a project',
  },
  { name: 'no provider', text: oidc(''), says: 'issuer.issuer: the preset generic needs it' },
  {
    name: "Okta's own server",
    text: oidc('  preset: okta\n  mode: resource-server\n  issuer: https://acme.okta.com\n'),
    says: 'issuer.issuer: tokens of this one are for Okta alone: name an authorization server',
  },
  {
    name: 'no provider of a model',
    text: `agent: { plugin: llm, model: m, apiKey: ${secret} }\n`,
    says: 'agent.provider: must be anthropic or openai',
  },
];
