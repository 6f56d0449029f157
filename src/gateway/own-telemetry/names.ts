/** Methods of the OpenTelemetry conventions and of MCP 2026-07-28. Others count as `_OTHER`: clients must not add series. */
const methods: ReadonlySet<string> = new Set([
  'completion/complete',
  'elicitation/create',
  'initialize',
  'logging/setLevel',
  'notifications/cancelled',
  'notifications/initialized',
  'notifications/message',
  'notifications/progress',
  'notifications/roots/list_changed',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'server/discover',
  'subscriptions/listen',
  'tools/call',
  'tools/list',
]);

const httpMethods = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE']);

const other = '_OTHER';

export function mcpMethod(name: string): string {
  return methods.has(name) ? name : other;
}

export function httpMethod(name: string | undefined): string {
  return name !== undefined && httpMethods.has(name) ? name : other;
}

/** By the database conventions where they know the system. */
const systems: Readonly<Record<string, string>> = { postgres: 'postgresql', bigquery: 'gcp.bigquery' };

export function databaseSystem(dialect: string): string {
  return systems[dialect] ?? dialect;
}
