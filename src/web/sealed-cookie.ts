import type { z } from 'zod';
import { hashSecret, parseJson } from '../contract/core/index.ts';
import type { SignedInVisit } from './page.ts';
import type { PageServices } from './services.ts';
import { createCookie } from './session.ts';

interface SealedCookie<Kept> {
  /** Undefined for none, for one of another session, and for anything that we did not write. */
  read(visit: SignedInVisit): Kept | undefined;
  /** Without `maxAgeSeconds` it ends with the browser. */
  write(visit: SignedInVisit, kept: Kept, maxAgeSeconds?: number): void;
  clear(visit: SignedInVisit): void;
}

/** Something that one session keeps in its browser, which any instance can open and the browser cannot. */
export function sealedCookie<Schema extends z.ZodType>(
  { authUrl, vault }: Pick<PageServices, 'authUrl' | 'vault'>,
  name: 'once' | 'queries',
  schema: Schema,
): SealedCookie<z.output<Schema>> {
  const cookie = createCookie(authUrl, `-${name}`);
  const context = ({ session }: SignedInVisit): string =>
    `${name === 'once' ? 'shown-once' : name}:${hashSecret(session.token)}`;
  return {
    read(visit) {
      const sealed = cookie.read(visit.request);
      if (sealed === undefined || sealed === '') return undefined;
      let text: string;
      try {
        text = Buffer.from(vault.open(sealed, context(visit))).toString();
      } catch {
        // A browser may send anything.
        return undefined;
      }
      // An earlier version may have kept something else.
      return schema.safeParse(parseJson(text)).data;
    },
    write(visit, kept, maxAgeSeconds) {
      const sealed = vault.seal(Buffer.from(JSON.stringify(kept)), context(visit));
      cookie.write(visit.response, sealed, maxAgeSeconds);
    },
    clear: (visit) => cookie.clear(visit.response),
  };
}
