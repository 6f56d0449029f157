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
    ca: z.string().min(1).optional().meta({ description: 'PEM; ${file:…}' }),
    cert: z.string().min(1).optional().meta({ description: 'PEM' }),
    key: z.string().min(1).optional().meta({ description: 'PEM' }),
    servername: z.string().min(1).optional(),
  }),
]);

export const configSchema = z.strictObject({
  url: postgresUrl.optional().meta({ description: "The gateway's own login; or host, user, password, database" }),
  host: z.string().min(1).optional().meta({ description: 'A name, or the directory of a Unix socket' }),
  port: wholeNumber(1, 65_535).optional(),
  user: z.string().min(1).optional(),
  password: z.string().optional(),
  database: z.string().min(1).optional(),
  ssl: ssl.default(false).meta({ description: 'true: encrypted, with a certificate of a public authority' }),
  connections: z
    .record(z.string(), postgresUrl)
    .default({})
    .meta({ description: 'URL by tenant, where tenancy.boundary.mode is `connection`' }),
  pool: z
    .strictObject({
      max: wholeNumber(1, 500).default(10).meta({ description: 'Queries at once, each database' }),
      idleSeconds: wholeNumber(1, 86_400).default(60),
      connectSeconds: z.coerce.number().min(0.1).max(60).default(5),
    })
    .prefault({}),
  statementTimeoutSeconds: z.coerce
    .number()
    .min(0.1)
    .max(3_600)
    .default(60)
    .meta({ description: 'No statement runs longer, whatever a request asks for' }),
  tempFileLimitMb: wholeNumber(1, 10_000_000)
    .default(1_024)
    .meta({ description: 'Temporary space of one query; only an administrator can set it, by the setup script' }),
  mapping: mappingSchema.prefault({ preset: 'sightline' }),
  tenancy: tenancySchema.prefault({ boundary: { mode: 'column', column: 'organization' }, value: 'id' }),
  isolation: z.enum(['layered', 'degraded']).default('layered').meta({
    description: 'degraded: no views in the database; the gate and the substitution alone keep tenants apart',
  }),
  boundary: z
    .strictObject({
      secret: z
        .string()
        .min(32, 'must have 32 characters or more')
        .optional()
        .meta({ description: 'Signs the tenant; the database knows it too: ${env:SIGHTLINE_BOUNDARY_SECRET}' }),
      login: name
        .default('sightline')
        .meta({ description: "The gateway's role, which the setup script makes; url names it while serving" }),
      schema: name.default('otel').meta({ description: 'Of the views' }),
      privateSchema: name.default('otel_priv').meta({ description: 'Of the secret and the function' }),
      owner: name.default('sightline_owner').meta({ description: 'Role without login that owns both' }),
      tokenSeconds: wholeNumber(5, 3_600).default(300),
    })
    .prefault({}),
  ingest: z
    .strictObject({
      enabled: flag.default(false).meta({ description: 'Our receiver writes here, into the preset `sightline`' }),
      url: postgresUrl.optional().meta({ description: "The writer's own login" }),
    })
    .prefault({}),
});

export type PostgresConfig = z.output<typeof configSchema>;
