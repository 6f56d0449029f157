import type { IncomingHttpHeaders } from 'node:http';

const least = 300_000;
const most = 86_400_000;

/** Milliseconds for which a document is taken as it is: as its host says, but never less than 5 minutes or more than a day. */
export function documentLifetime(headers: IncomingHttpHeaders, now: Date): number {
  return Math.min(most, Math.max(least, said(headers, now) ?? least));
}

function said(headers: IncomingHttpHeaders, now: Date): number | undefined {
  const control = headers['cache-control'];
  if (control !== undefined) {
    if (/(?:^|[\s,])no-(?:store|cache)(?:$|[\s,])/i.test(control)) return 0;
    const age = /(?:^|[\s,])max-age\s*=\s*"?(\d{1,9})/i.exec(control)?.[1];
    if (age !== undefined) return Number(age) * 1_000;
  }
  const expires = Date.parse(headers.expires ?? '');
  return Number.isNaN(expires) ? undefined : expires - now.getTime();
}
