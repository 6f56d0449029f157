import { z } from 'zod';

const units: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

const written = /^(\d{1,16}(?:\.\d{1,6})?)\s*([kmgt]i?b|b)?$/i;
const most = 1e15;

/** A number of bytes, or text such as `50GB`, `1.5 TiB` or `1000000`, as `${env:…}` gives it. At most a petabyte. */
export const byteSize = z
  .union([z.number().min(1).max(most), z.string().regex(written, 'must be a number of bytes, such as 50GB or 1.5 TiB')])
  .transform((value, context) => {
    if (typeof value === 'number') return Math.floor(value);
    const [, amount = '', unit = ''] = written.exec(value) ?? [];
    const bytes = Math.floor(Number(amount) * (units[unit.toLowerCase()] ?? Number.NaN));
    if (bytes >= 1 && bytes <= most) return bytes;
    context.addIssue({ code: 'custom', message: 'must be from 1 byte to 1000TB', input: value });
    return z.NEVER;
  });

export const url = z
  .string()
  .refine(isHttpUrl, 'must be an http or https URL without query or fragment')
  .transform((value) => value.replace(/\/+$/, ''));

/** As a browser's Origin header has it, or `*` for every origin. */
export const browserOrigin = z
  .string()
  .refine(
    (value) => value === '*' || (isHttpUrl(value) && new URL(value).origin === value),
    'must be an origin, such as https://app.example.com, or *',
  );

/** An origin of a browser, or of an editor's or an extension's pages, which have schemes of their own. */
export const pageOrigin = z
  .string()
  .regex(
    /^[a-z][a-z0-9+.-]*:\/\/[^/\s?#]+$/i,
    'must be an origin with its scheme and no path, such as https://app.example.com',
  );

/** As a request's Host header has it. */
export const hostName = z
  .string()
  .regex(/^[^\s/@?#]+$/, 'must be a host name without scheme or path, such as mcp.example.com or mcp.example.com:8443');

export const emailDomain = z
  .string()
  .regex(/^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/, 'must be a domain such as example.com')
  .toLowerCase();

/** One value, or a list of them. */
export const oneOrMore = (item: z.ZodString) =>
  z.union([item, z.array(item).max(500)]).transform((value) => (typeof value === 'string' ? [value] : value));

export const headerText = z
  .string()
  .min(1)
  .regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII');

export const headerName = z.string().regex(/^[A-Za-z0-9-]+$/, 'must be the name of a header');

function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, search, hash, username, password } = new URL(value);
  return (
    (protocol === 'http:' || protocol === 'https:') &&
    search === '' &&
    hash === '' &&
    username === '' &&
    password === ''
  );
}

/** The members of an object; of anything else none. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
