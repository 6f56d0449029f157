import { z } from 'zod';
import { createCookie } from '../../cookies.ts';
import type { Visit } from '../../page.ts';
import { ownPath } from '../../paths.ts';
import type { PageServices } from '../../services.ts';

const context = 'sign-in';
const seconds = 600;

const schema = z.object({ state: z.string(), returnTo: z.string().optional(), until: z.number() });

/** A sign-in on its way through an identity provider. */
export interface Pending {
  /** What the issuer's `finish` needs again. */
  readonly state: string;
  readonly returnTo?: string | undefined;
}

type Services = Pick<PageServices, 'authUrl' | 'vault' | 'now'>;

/** Kept sealed in the browser that began, so that nobody can finish it elsewhere; for ten minutes. */
export function keepPending({ response }: Visit, { authUrl, vault, now }: Services, pending: Pending): void {
  const text = JSON.stringify({ ...pending, until: now().getTime() + seconds * 1_000 });
  createCookie(authUrl, '-sign-in').write(response, vault.seal(Buffer.from(text), context), seconds);
}

/** What this browser began; taken once. */
export function takePending(visit: Visit, { authUrl, vault, now }: Services): Pending | undefined {
  const cookie = createCookie(authUrl, '-sign-in');
  const sealed = cookie.read(visit.request);
  if (sealed === undefined) return undefined;
  cookie.clear(visit.response);
  let text: string;
  try {
    text = Buffer.from(vault.open(sealed, context)).toString();
  } catch {
    // Not ours, or sealed with a key that is gone: the person begins anew.
    return undefined;
  }
  const { state, returnTo, until } = schema.parse(JSON.parse(text));
  return until > now().getTime() ? { state, returnTo: ownPath(returnTo) } : undefined;
}
