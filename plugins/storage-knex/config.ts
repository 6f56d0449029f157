import { z } from 'zod';
import { flag } from '../../src/contract/core/index.ts';

const sqliteSchema = z.strictObject({
  client: z.literal('sqlite').default('sqlite').meta({ description: 'The database: a SQLite file' }),
  filename: z
    .string()
    .min(1)
    // It would be lost at the end, and each connection would see another one.
    .refine((name) => name !== ':memory:' && !name.startsWith('file:'), 'must be the path of a file')
    .optional()
    .meta({
      description: 'The SQLite file; a relative path counts from the data directory. Default: sightline.sqlite there.',
    }),
});

/** The readable parts are kept to, so that nothing of a URL is taken for an option of a driver. */
function urlOf(protocol: RegExp, form: string) {
  return z.string().refine((value) => {
    const url = URL.parse(value);
    if (url === null || !protocol.test(url.protocol) || url.search !== '' || url.hash !== '') return false;
    if (url.hostname === '' || url.username === '' || url.pathname.length < 2) return false;
    try {
      for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part);
      return true;
    } catch {
      return false;
    }
  }, `must be ${form}, with %23 for # and the like; options stand beside it`);
}

const port = z.coerce.number().int().min(1).max(65_535);

const serverShape = {
  host: z.string().min(1).optional().meta({ description: 'A name or address; or the path of a Unix socket' }),
  user: z.string().min(1).optional(),
  password: z.string().optional().meta({ description: '${env:…} or ${file:…}' }),
  database: z.string().min(1).optional(),
  ssl: z
    .union([
      flag,
      z.strictObject({
        ca: z.string().min(1).optional().meta({ description: 'PEM; ${file:…}' }),
        cert: z.string().min(1).optional().meta({ description: 'PEM' }),
        key: z.string().min(1).optional().meta({ description: 'PEM' }),
        rejectUnauthorized: flag.default(true).meta({ description: 'false: encrypted, to whoever answers' }),
      }),
    ])
    .default(false)
    .meta({ description: 'true: encrypted, with a certificate of a public authority' }),
  pool: z
    .strictObject({
      max: z.coerce.number().int().min(3).max(500).default(10).meta({ description: 'Connections of this process' }),
      acquireTimeoutSeconds: z.coerce.number().min(0.1).max(300).default(10),
    })
    .prefault({}),
  statementTimeoutSeconds: z.coerce.number().min(0.1).max(600).default(15),
} as const;

type Login = Readonly<Partial<Record<'url' | 'host' | 'user' | 'database', string | undefined>>>;

/** Either the URL, or the parts of one. */
function oneLogin({ url, host, user, database }: Login): boolean {
  if (url !== undefined) return host === undefined && user === undefined && database === undefined;
  return host !== undefined && user !== undefined && database !== undefined;
}

const loginForm = { path: ['url'], message: 'give url, or host, user and database' };

const postgresSchema = z
  .strictObject({
    client: z.literal('postgres'),
    url: urlOf(/^postgres(?:ql)?:$/, 'postgres://user:password@host:5432/database').optional(),
    port: port.default(5432),
    ...serverShape,
  })
  .refine(oneLogin, loginForm);

const mysqlSchema = z
  .strictObject({
    client: z.literal('mysql').meta({ description: 'MySQL 8 or MariaDB' }),
    url: urlOf(/^(?:mysql|mariadb):$/, 'mysql://user:password@host:3306/database').optional(),
    port: port.default(3306),
    ...serverShape,
  })
  .refine(oneLogin, loginForm);

export const configSchema = z.discriminatedUnion('client', [sqliteSchema, postgresSchema, mysqlSchema]);

export type ServerConfig = z.output<typeof postgresSchema> | z.output<typeof mysqlSchema>;
