import type { IncomingMessage, ServerResponse } from 'node:http';
import { createHmac, randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { SightlineError, equalHashes } from '../contract/core/index.ts';
import { createCookie, type BrowserSession } from './session.ts';
import type { Organization } from '../contract/storage/index.ts';

/** Eight thousand characters, the longest message to the agent, of nine bytes each in this encoding. */
const mostBytes = 96 * 1024;

/** The fields of a form, at most 96 kB. `invalid_argument` for another content type, `payload_too_large` beyond. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') {
    throw new SightlineError('invalid_argument', 'A form is sent as application/x-www-form-urlencoded.');
  }
  const said = Number(request.headers['content-length'] ?? mostBytes);
  if (said > mostBytes) throw tooLarge();
  // Not a list of what comes: a sender of single bytes would have a hundred times their memory.
  const body = Buffer.allocUnsafe(said);
  let size = 0;
  try {
    // The stream stays open behind a refusal, so that the answer still goes out.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const bytes = Buffer.from(chunk);
      if (size + bytes.length > body.length) throw tooLarge();
      size += bytes.copy(body, size);
    }
  } catch (error) {
    if (error instanceof SightlineError) throw error;
    // The sender went away: nothing failed here, and strangers must not fill the log with it.
    throw new SightlineError('invalid_argument', 'The form broke off.', { cause: error });
  }
  return new URLSearchParams(body.toString('utf8', 0, size));
}

/** What a person typed, or what is wrong with it, by field. */
type FormResult<Values> =
  | { readonly ok: true; readonly values: Values }
  | { readonly ok: false; readonly problems: Readonly<Record<string, string>> };

/** Array fields get all values of the name, others the last one. The schema's messages are shown beside the fields. */
export function parseForm<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  form: URLSearchParams,
): FormResult<z.output<z.ZodObject<Shape>>> {
  const input: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.shape)) {
    const values = form.getAll(name);
    if (takesMany(field)) input[name] = values;
    else if (values.length > 0) input[name] = values.at(-1);
  }
  const parsed = schema.safeParse(input);
  if (parsed.success) return { ok: true, values: parsed.data };
  const problems: Record<string, string> = {};
  for (const { path, message } of parsed.error.issues) problems[String(path[0])] ??= message;
  return { ok: false, problems };
}

/** For fields that no person types: what does not fit is a hand-made request, `invalid_argument`. */
export function requireForm<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  form: URLSearchParams,
): z.output<z.ZodObject<Shape>> {
  const parsed = parseForm(schema, form);
  if (!parsed.ok) throw new SightlineError('invalid_argument', 'The form is not complete. Open the page again.');
  return parsed.values;
}

function takesMany(field: unknown): boolean {
  return field instanceof Object && 'def' in field && typeOf(field.def) === 'array';
}

function typeOf(def: unknown): unknown {
  return def instanceof Object && 'type' in def ? def.type : undefined;
}

function tooLarge(): SightlineError {
  return new SightlineError('payload_too_large', 'The form holds more than 96 kB.');
}

export const csrfField = 'csrf';

/** Of the token and the organization; in neither of them. */
const separator = '.';

/** Whether a POST comes from a form of ours. The token is what counts; the headers refuse a stranger's page earlier. */
interface Csrf {
  /** For a hidden field: bound to the session, before one to a cookie. Behind it stands the page's organization. */
  token(request: IncomingMessage, response: ServerResponse, session: BrowserSession | undefined): string;
  /** Throws `forbidden` unless the headers allow that the browser was on a page of ours. */
  checkOrigin(request: IncomingMessage): void;
  /** Throws `forbidden` unless `shown` is this browser's token. */
  checkToken(request: IncomingMessage, session: BrowserSession | undefined, shown: string | null): void;
  /** Throws `conflict` unless the form was opened in this organization: another tab may have gone to another since. */
  checkOrganization(organization: Organization, shown: string | null): void;
}

export function createCsrf(authUrl: string): Csrf {
  const cookie = createCookie(authUrl, '-form');
  const own = new URL(authUrl);
  const visitor = (request: IncomingMessage): string | undefined => {
    const value = cookie.read(request);
    return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined;
  };
  // One-way: a form that leaks gives no session away.
  const tokenOf = (secret: string): string => createHmac('sha256', secret).update('csrf').digest('base64url');

  return {
    token(request, response, session) {
      if (session) return [tokenOf(session.token), session.membership?.organization.id].filter(Boolean).join(separator);
      const known = visitor(request);
      if (known !== undefined) return tokenOf(known);
      const made = randomBytes(32).toString('base64url');
      cookie.write(response, made);
      return tokenOf(made);
    },

    checkOrigin(request) {
      const { origin, host } = request.headers;
      const site = request.headers['sec-fetch-site'];
      if (site !== undefined && site !== 'same-origin') throw foreign();
      // Browsers write `null` where a page sends no referrer (Fetch §3.1), as ours do not; then the token decides.
      if (origin === undefined || origin === 'null') return;
      const from = URL.parse(origin);
      // The Host header has been held against the allowed ones before.
      if (from?.protocol !== own.protocol || (from.host !== own.host && from.host !== host)) throw foreign();
    },

    checkToken(request, session, shown) {
      const secret = session?.token ?? visitor(request);
      const [token = ''] = (shown ?? '').split(separator);
      if (secret === undefined || !equalHashes(tokenOf(secret), token)) {
        throw new SightlineError('forbidden', 'This form is out of date.', {
          hint: 'Open the page again and send it once more. Cookies have to be allowed for this site.',
        });
      }
    },

    checkOrganization({ id, name }, shown) {
      const [, openedIn] = (shown ?? '').split(separator);
      if (openedIn === id) return;
      throw new SightlineError(
        'conflict',
        `This browser shows ${name} now, and the form was opened in another organization. Nothing was changed.`,
        { hint: 'Go back to the other organization, or open the page again.' },
      );
    },
  };
}

function foreign(): SightlineError {
  return new SightlineError('forbidden', 'The form was sent from another website.', {
    hint: 'Open the page here and send it once more.',
  });
}

/**
 * Whether a page of ours led here: by GET a statement may run that we wrote. It costs, and stands in the audit under a person's
 * name, so another site, a prefetch and a pasted address get the page with a button. No site can forge Sec-Fetch-Site
 * (Fetch Metadata §2.3); over plain http browsers leave it out.
 */
export function isLedHereByUs({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers['sec-fetch-site'] === 'same-origin' && headers['sec-purpose'] === undefined;
}
