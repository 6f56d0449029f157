import { z } from 'zod';
import type { MemberVisit } from '../../page.ts';
import { sealedCookie } from '../../sealed-cookie.ts';
import type { PageServices } from '../../services.ts';

/** A statement, and the stretch that was asked for beside it. */
export interface Asked {
  readonly sql: string;
  readonly start: string;
  readonly end: string;
}

const kept = z.array(z.tuple([z.string(), z.string(), z.string(), z.string()]).readonly());

const most = 10;
/** Sealed and encoded that stays below the 4,096 bytes that a browser keeps of a cookie (RFC 6265 §6.1). */
const mostBytes = 2_400;

/**
 * What a person asked last, in their browser: it needs no table, nobody else can read it, and it ends with the session. The
 * audit has the record that lasts.
 */
export function pastOf(services: Pick<PageServices, 'authUrl' | 'vault'>) {
  const cookie = sealedCookie(services, 'queries', kept);
  const all = (visit: MemberVisit) => cookie.read(visit) ?? [];
  return {
    /** Of this organization, the newest first. */
    list: (visit: MemberVisit): readonly Asked[] =>
      all(visit)
        .filter(([id]) => id === visit.organization.id)
        .map(([, sql, start, end]) => ({ sql, start, end })),
    /** One that alone has no room is not kept. */
    add(visit: MemberVisit, { sql, start, end }: Asked): void {
      const id = visit.organization.id;
      const others = all(visit).filter(([of, text]) => of !== id || text !== sql);
      const entries = [[id, sql, start, end] as const, ...others].slice(0, most);
      while (Buffer.byteLength(JSON.stringify(entries)) > mostBytes) entries.pop();
      if (entries.length > 0) cookie.write(visit, entries);
    },
  };
}
