import { z } from 'zod';
import { flag, wholeNumber } from '../../src/contract/core/index.ts';
import { mappingSchema, tenancySchema } from '../../src/contract/telemetry/index.ts';

const name = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/, 'must be a name of lower-case letters, digits and _');

const urlForm = 'must be postgres://user:password@host:5432/database, with %23 for # and the like';

export const postgresUrl = z
  .string()
  .regex(/^postgres(?:ql)?:\/\//, urlForm)
  .refine(isReadable, urlForm);

/** What the driver fails at, with all of the URL in its error, is refused here: the password is in it. */
function isReadable(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || url.hash !== '') return false;
  try {
    for (const part of [url.username, url.password, url.hostname, url.pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

const ssl = z.union([
  flag,
  z.strictObject({
    ca: z.string().min(1).optional().meta({ description: 'Certificate of the authority (PEM), as ${file:…}' }),
    cert: z.string().min(1).optional().meta({ description: 'Certificate of the gateway (PEM)' }),
    key: z.string().min(1).optional().meta({ description: 'Key of that certificate (PEM), as ${file:…}' }),
    servername: z.string().min(1).optional().meta({ description: 'Host name to expect in the certificate' }),
  }),
]);

export const configSchema = z.strictObject({
  url: postgresUrl
    .optional()
    .meta({ description: "Connection URL of the gateway's own login; or set host, user, password and database" }),
  host: z.string().min(1).optional().meta({ description: 'Host name, or directory of a Unix socket' }),
  port: wholeNumber(1, 65_535).optional().meta({ description: 'Port of the server' }),
  user: z.string().min(1).optional().meta({ description: 'Login of the gateway' }),
  password: z.string().optional().meta({ description: 'Password; give it as ${env:…} or ${file:…}' }),
  database: z.string().min(1).optional().meta({ description: 'Name of the database' }),
  ssl: ssl.default(false).meta({
    description: 'true encrypts and verifies the certificate against public authorities; a section sets more',
  }),
  connections: z
    .record(z.string(), postgresUrl)
    .default({})
    .meta({ description: 'Connection URL of each tenant, if tenancy.boundary.mode is `connection`' }),
  pool: z
    .strictObject({
      max: wholeNumber(1, 500).default(10).meta({ description: 'Concurrent queries for each database' }),
      idleSeconds: wholeNumber(1, 86_400)
        .default(60)
        .meta({ description: 'Seconds after which an idle connection is closed' }),
      connectSeconds: z.coerce
        .number()
        .min(0.1)
        .max(60)
        .default(5)
        .meta({ description: 'Seconds to wait for a new connection' }),
    })
    .prefault({}),
  statementTimeoutSeconds: z.coerce
    .number()
    .min(0.1)
    .max(3_600)
    .default(60)
    .meta({ description: 'Longest run time of any statement' }),
  tempFileLimitMb: wholeNumber(1, 10_000_000).default(1_024).meta({
    description: 'Temporary disk space of one query, in MB; takes effect when an administrator runs the setup script',
  }),
  mapping: mappingSchema.prefault({ preset: 'sightline' }),
  tenancy: tenancySchema.prefault({ boundary: { mode: 'column', column: 'organization' }, value: 'id' }),
  isolation: z.enum(['layered', 'degraded']).default('layered').meta({
    description: 'degraded serves without views in the database; only the rewritten statement separates tenants',
  }),
  boundary: z
    .strictObject({
      secret: z.string().min(32, 'must have 32 characters or more').optional().meta({
        description: 'Secret that signs the tenant and that the database knows, too: ${env:SIGHTLINE_BOUNDARY_SECRET}',
      }),
      login: name.default('sightline').meta({
        description: 'Role of the gateway, which the setup script creates; url names it once the gateway serves',
      }),
      schema: name.default('otel').meta({ description: 'Schema of the views' }),
      privateSchema: name.default('otel_priv').meta({ description: 'Schema of the secret and its function' }),
      owner: name.default('sightline_owner').meta({ description: 'Role without login that owns both schemas' }),
      tokenSeconds: wholeNumber(5, 3_600)
        .default(300)
        .meta({ description: 'Seconds for which a signed tenant is valid' }),
    })
    .prefault({}),
  ingest: z
    .strictObject({
      enabled: flag
        .default(false)
        .meta({ description: 'Whether received telemetry is stored here (preset `sightline`)' }),
      url: postgresUrl.optional().meta({ description: 'Connection URL of a login that writes' }),
    })
    .prefault({}),
});

export type PostgresConfig = z.output<typeof configSchema>;
