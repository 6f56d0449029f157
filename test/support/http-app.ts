import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createApp, type AppOptions } from '../../src/gateway/http/app.ts';
import { Admission } from '../../src/limits/admission.ts';

/** The gateway's app with no MCP endpoint and no receivers: pages, OAuth, metadata and health. */
export function createSiteApp(
  options: Pick<AppOptions, 'issuer' | 'pages' | 'authUrl' | 'resource' | 'allowedHosts' | 'logger'> &
    Partial<AppOptions>,
): ReturnType<typeof createApp> {
  const absent = (_request: IncomingMessage, response: ServerResponse): void => void response.writeHead(404).end();
  const admin = async (request: IncomingMessage, response: ServerResponse): Promise<void> => absent(request, response);
  const lane = (): Admission => new Admission(10_000);
  return createApp({
    mcp: absent,
    receiver: { handle: () => false },
    senderOrigins: [],
    alerts: absent,
    admin,
    scim: absent,
    admission: { telemetry: lane(), alerts: lane(), scim: lane(), forms: lane(), pages: lane() },
    publicUrl: options.authUrl,
    basePath: '/',
    resourceName: 'Sightline',
    resourceMetadata: {},
    health: async () => ({ ok: true, components: {} }),
    ready: () => true,
    trustProxy: false,
    requestId: randomUUID,
    instruments: undefined,
    ...options,
  });
}
