import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  ClientGone,
  nestsDeeperThan,
  parseJson,
  requestWithin,
  SightlineError,
  isObject,
} from '../../contract/core/index.ts';
import {
  instanceId,
  type AdminKey,
  type AuditLog,
  type AuditRecord,
  type Organization,
} from '../../contract/storage/index.ts';
import { createThrottle } from '../../limits/rate-limit.ts';
import { sendError, sendJson } from '../http/json.ts';
import { allOperations, placesOf, routeOf, type NamedOperation } from './index.ts';
import type { AdminKeys } from './keys.ts';
import { openApiDocument } from './openapi.ts';
import { checked, type AdminServices } from './operation.ts';

export interface AdminHandlerOptions {
  readonly services: AdminServices;
  readonly adminKeys: Pick<AdminKeys, 'find'>;
  readonly audit: AuditLog;
  readonly requestId: () => string;
}

/** Of one key. */
const rate = { perMinute: 600, burst: 120 } as const;
const usualBodyBytes = 64 * 1_024;
/** What reading a body may cost does not grow with what it says: each wrong entry of a list would be a mistake to keep. */
const deepestBody = 8;
const mostEntries = 25_000;
const base = '/admin/v1';
const ofLines = { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' } as const;

const routes = allOperations.map((operation) => {
  const route = routeOf(operation);
  const pattern = new RegExp(`^${base}${route.replace(/\{\w+\}/g, '([^/]+)')}$`);
  return { operation, pattern, places: placesOf(route) };
});

/** Answers requests under /admin/v1; rejects with what the app shows of an error. */
export function createAdminHandler(options: AdminHandlerOptions) {
  const { services, adminKeys, audit, requestId } = options;
  const throttle = createThrottle({ ...rate, now: services.now });
  let document: object | undefined;

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === `${base}/openapi.json` && request.method === 'GET') {
      return sendJson(response, 200, (document ??= openApiDocument()), 'public, max-age=300');
    }
    const key = await adminKeys.find(/^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '');
    if (key === undefined) {
      response.setHeader('www-authenticate', 'Bearer realm="admin"');
      const hint = 'Send Authorization: Bearer and the secret of an admin key: sightline admin-key create';
      return sendError(response, 401, 'invalid_token', 'This needs an admin key.', hint);
    }
    const wait = throttle(key.id);
    if (wait > 0) {
      response.setHeader('retry-after', wait);
      return sendError(response, 429, 'rate_limited', 'This key has asked too often.');
    }
    const matching = routes.filter(({ pattern }) => pattern.test(pathname));
    const found = matching.find(({ operation }) => operation.method.toUpperCase() === request.method);
    if (found === undefined) {
      if (matching.length === 0) throw new SightlineError('not_found', 'There is nothing at this address.');
      response.setHeader('allow', matching.map(({ operation }) => operation.method.toUpperCase()).join(', '));
      return sendError(response, 405, 'invalid_argument', 'This address is asked in another way.');
    }
    const { operation, pattern, places } = found;
    const values = (pattern.exec(pathname) ?? []).slice(1).map(decoded);
    const { organization: named, ...inPath } = Object.fromEntries(
      places.map((name, index) => [name, values[index] ?? '']),
    );
    const organization = await organizationOf(key, named);
    const started = performance.now();
    const at = services.now();
    const record = (outcome: string): AuditRecord => ({
      at,
      event: 'admin.call',
      subject: key.id,
      requestId: requestId(),
      target: operation.id,
      outcome,
      durationMs: Math.round(performance.now() - started),
    });
    const keep = await audit.reserve(organization?.id ?? key.organizationId ?? instanceId);
    let outcome = 'internal';
    try {
      authorize(key, operation, named, organization);
      const inBody = operation.method === 'post';
      if (inBody && searchParams.size > 0) {
        throw new SightlineError('invalid_argument', 'A POST takes its input in the body; its query must be empty.');
      }
      const asked = inBody ? await readBody(request, operation) : Object.fromEntries(searchParams);
      if (Object.keys(asked).some((name) => name in inPath)) {
        throw new SightlineError('invalid_argument', 'A name of the path is in the body or query, too.');
      }
      const input = checked(operation, { ...asked, ...inPath });
      const actor = { kind: 'operator', id: key.id, name: key.name } as const;
      const call = { services, actor, ...(organization && { organization }) };
      if (operation.lines === undefined) {
        sendJson(response, 200, operation.output.parse(await operation.run(call, input)));
      } else {
        await operation.lines(call, input, async (text) => {
          if (!response.headersSent) response.writeHead(200, ofLines);
          await write(response, text);
        });
        response.end();
      }
      outcome = 'ok';
    } catch (error) {
      if (error instanceof SightlineError) outcome = error.code;
      throw error;
    } finally {
      keep(record(outcome));
    }
  };

  /** Undefined where there is none, or none that this key may know of. */
  async function organizationOf(key: AdminKey, named: string | undefined): Promise<Organization | undefined> {
    const { directory } = services.storage;
    const idOrName = named ?? key.organizationId;
    const found = idOrName === undefined ? undefined : await directory.findOrganization(idOrName);
    return key.organizationId === undefined || found?.id === key.organizationId ? found : undefined;
  }
}

export type AdminHandler = ReturnType<typeof createAdminHandler>;

function authorize(
  key: AdminKey,
  operation: NamedOperation,
  named: string | undefined,
  organization: Organization | undefined,
): void {
  if (!key.scopes.includes(operation.scope)) {
    throw new SightlineError('insufficient_scope', `${operation.id} needs the scope ${operation.scope}.`);
  }
  // A key whose own organization is gone must not be taken for one of all.
  if (organization === undefined && (named !== undefined || key.organizationId !== undefined)) {
    throw new SightlineError('not_found', `There is no organization ${JSON.stringify((named ?? '').slice(0, 100))}.`);
  }
  if (operation.instanceOnly === true && key.organizationId !== undefined) {
    throw new SightlineError('forbidden', `${operation.id} needs a key for all organizations.`, {
      hint: 'It is made on the machine of the gateway: sightline admin-key create --all-organizations',
    });
  }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new SightlineError('invalid_argument', 'The address is not well encoded.', { cause });
  }
}

async function readBody(
  request: IncomingMessage,
  { mostBodyBytes = usualBodyBytes }: NamedOperation,
): Promise<Readonly<Record<string, unknown>>> {
  const bytes = await requestWithin(request, mostBodyBytes);
  if (bytes === undefined) {
    throw new SightlineError('payload_too_large', `The body is larger than ${mostBodyBytes / 1_024} KiB.`);
  }
  if (bytes.length === 0) return {};
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new SightlineError('invalid_argument', 'The body must be application/json.');
  }
  if (nestsDeeperThan(bytes, deepestBody)) {
    throw new SightlineError('invalid_argument', `The body nests deeper than ${deepestBody} levels.`);
  }
  const body = parseJson(bytes.toString('utf8'));
  if (isObject(body)) {
    if (Object.values(body).every((value) => !Array.isArray(value) || value.length <= mostEntries)) return body;
    throw new SightlineError('payload_too_large', `A list of the body has more entries than ${mostEntries}.`);
  }
  throw new SightlineError('invalid_argument', 'The body must be a JSON object.');
}

async function write(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed) throw new ClientGone();
  if (response.write(text)) return;
  const gone = new AbortController();
  const left = (): void => gone.abort();
  response.once('close', left);
  try {
    await once(response, 'drain', { signal: gone.signal });
  } catch {
    throw new ClientGone();
  } finally {
    response.off('close', left);
  }
}
