import type { IncomingMessage } from 'node:http';
import type { Scope } from '../contract/issuer/index.ts';
import type { Grant } from '../contract/storage/index.ts';

/** What one person let one application do from one machine; each time it is connected adds a grant. */
export interface Connection extends Pick<
  Grant,
  'id' | 'user' | 'clientName' | 'redirectOrigin' | 'machine' | 'createdAt' | 'lastUsedAt'
> {
  readonly scopes: readonly Scope[];
  /** The newest first; it has the id of that one. */
  readonly grants: readonly Grant[];
}

/** @param grants the newest first, as storage lists them. */
export function connectionsOf(grants: readonly Grant[]): readonly Connection[] {
  const same = Map.groupBy(grants, ({ user, clientId, clientName, redirectOrigin, machine }) =>
    JSON.stringify([user.id, clientId, clientName, redirectOrigin.replace(/:\d+$/, ''), machine ?? null]),
  );
  return [...same.values()].flatMap((all) => {
    const [newest] = all;
    if (newest === undefined) return [];
    const used = all.flatMap(({ lastUsedAt }) => lastUsedAt ?? []).toSorted((a, b) => b.getTime() - a.getTime());
    const scopes = [...new Set(all.flatMap((grant) => grant.scopes))];
    const { lastUsedAt: _, ...rest } = newest;
    return [{ ...rest, scopes, grants: all, ...(used[0] && { lastUsedAt: used[0] }) }];
  });
}

/** The order matters: a browser also names those that it is made of. */
const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iOS'],
  ['iPad', 'iPadOS'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const;

/** `Firefox on Linux, 192.0.2.7`: what tells the machines of one person apart. */
export function machineOf({ headers }: IncomingMessage, address: string | undefined): string {
  const agent = headers['user-agent'] ?? '';
  const nameIn = (known: typeof browsers | typeof systems): string | undefined =>
    known.find(([mark]) => agent.includes(mark))?.[1];
  const program = nameIn(browsers) ?? 'Another browser';
  const system = nameIn(systems);
  return `${program}${system === undefined ? '' : ` on ${system}`}${address === undefined ? '' : `, ${address}`}`;
}

/** What a scope lets somebody do, in words for who gives it. */
export const scopeWords: Readonly<Record<Scope, { readonly title: string; readonly detail: string }>> = {
  'telemetry:read': {
    title: 'Read telemetry',
    detail: 'Logs, traces and metrics, by queries that change nothing.',
  },
  'ingest:read': {
    title: 'See how telemetry is sent',
    detail: 'The address, and the token with which anyone can send telemetry in the organization’s name.',
  },
  'incidents:read': {
    title: 'Read incidents',
    detail: 'With what investigations found, and who is waited for.',
  },
  'chats:read': {
    title: 'Read chats',
    detail: 'What was asked of the agent, and what it answered.',
  },
  'chats:write': {
    title: 'Write in chats as you',
    detail: 'Ask the agent, which then works, and reply to it.',
  },
};
