import { hashSecret } from '../contract/core/index.ts';
import { createCookie } from './cookies.ts';
import type { SignedInVisit } from './page.ts';
import type { PageServices } from './services.ts';

/**
 * A secret on its way from the POST that made it to the page that shows it once. It travels sealed in a cookie of the
 * browser, which any instance can open and none has to keep: the answer to the POST is a redirect, so reloading makes no
 * second secret, and the page that shows it takes the cookie away, so reloading does not show it again.
 */
export interface ShownOnce {
  /** @param about what the secret is of: no other page can show it. */
  keep(visit: SignedInVisit, about: string, secret: string): void;
  take(visit: SignedInVisit, about: string): string | undefined;
}

const seconds = 120;

export function shownOnce({ authUrl, vault, now }: Pick<PageServices, 'authUrl' | 'vault' | 'now'>): ShownOnce {
  const cookie = createCookie(authUrl, '-once');
  const context = ({ session }: SignedInVisit, about: string): string =>
    `shown-once:${hashSecret(session.token)}:${about}`;
  return {
    keep(visit, about, secret) {
      const until = now().getTime() + seconds * 1_000;
      cookie.write(visit.response, vault.seal(Buffer.from(`${until} ${secret}`), context(visit, about)), seconds);
    },
    take(visit, about) {
      const sealed = cookie.read(visit.request);
      if (sealed === undefined || sealed === '') return undefined;
      const text = opened(() => vault.open(sealed, context(visit, about)));
      if (text === undefined) return undefined;
      cookie.clear(visit.response);
      const space = text.indexOf(' ');
      return Number(text.slice(0, space)) > now().getTime() ? text.slice(space + 1) : undefined;
    },
  };
}

/** What a browser sends may be anything; what cannot be opened shows nothing. */
function opened(open: () => Uint8Array): string | undefined {
  try {
    return Buffer.from(open()).toString();
  } catch {
    return undefined;
  }
}
