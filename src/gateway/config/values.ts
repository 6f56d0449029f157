import { z } from 'zod';

export const url = z
  .string()
  .refine(isHttpUrl, 'must be an http or https URL without query or fragment')
  .transform((value) => value.replace(/\/+$/, ''));

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
