import { z } from 'zod';
import { requireForm } from './forms.ts';
import { html, type Html } from './html.ts';
import { definePage, type SignedInVisit } from './page.ts';
import { ownPath } from './paths.ts';
import type { PageServices } from './services.ts';
import { sealedCookie } from './session.ts';

/** How long a page shows a secret that nobody has acknowledged. */
export const shownMinutes = 15;

/** Of one browser at a time: the oldest makes room, so that the cookie stays small. */
const most = 8;

const kept = z.array(z.tuple([z.string(), z.number(), z.string()]));

/**
 * Secrets on their way to the pages that show them, sealed for one session in a cookie that any instance can open. The
 * answer to the POST is a redirect, so reloading makes no second secret. Reading takes nothing away: HEAD, a prefetch
 * or a reload must not use up what a person has not copied yet. The person says when it is copied.
 */
interface ShownOnce {
  /** @param about what the secret is of: no other page can show it. */
  keep(visit: SignedInVisit, about: string, secret: string): void;
  read(visit: SignedInVisit, about: string): string | undefined;
  forget(visit: SignedInVisit, about: string): void;
}

export function shownOnce({ authUrl, vault, now }: Pick<PageServices, 'authUrl' | 'vault' | 'now'>): ShownOnce {
  const cookie = sealedCookie({ authUrl, vault }, 'once', kept);

  const all = (visit: SignedInVisit): z.output<typeof kept> =>
    (cookie.read(visit) ?? []).filter(([, until]) => until > now().getTime());

  function write(visit: SignedInVisit, entries: z.output<typeof kept>): void {
    if (entries.length === 0) return cookie.clear(visit);
    cookie.write(visit, entries, shownMinutes * 60);
  }

  const others = (visit: SignedInVisit, about: string) => all(visit).filter(([of]) => of !== about);

  return {
    keep(visit, about, secret) {
      const until = now().getTime() + shownMinutes * 60_000;
      write(visit, [...others(visit, about), [about, until, secret] satisfies [string, number, string]].slice(-most));
    },
    read: (visit, about) => all(visit).find(([of]) => of === about)?.[2],
    forget: (visit, about) => write(visit, others(visit, about)),
  };
}

const path = '/secret-copied';

/** Below a secret that is shown. @param back the page that shows it */
export function copiedForm({ to, csrf }: SignedInVisit, about: string, back: string): Html {
  return html`<form method="post" action="${to(path)}">
    ${csrf}<input type="hidden" name="about" value="${about}" /><input type="hidden" name="return_to" value="${back}" />
    <button>I have copied it</button>
  </form>`;
}

const form = z.object({ about: z.string(), return_to: z.string() });

export const copiedPage = definePage({
  path,
  access: 'signed-in',
  post(visit, posted, services) {
    const { about, return_to: back } = requireForm(form, posted);
    shownOnce(services).forget(visit, about);
    return { redirect: ownPath(back) ?? '/' };
  },
});
