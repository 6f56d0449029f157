import { scopes as allScopes, type Scope } from '../../contract/issuer/index.ts';

const loopback = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** @param hostname as URL writes it. */
export function isLoopback(hostname: string): boolean {
  return loopback.has(hostname);
}

/**
 * Whether an RFC 8707 resource indicator means the MCP endpoint. Clients send it as it is, with a slash at the end, or the
 * bare origin; on a loopback address they may know us by another of its names.
 */
export function isOurResource(indicator: string, resource: string): boolean {
  if (indicator === resource) return true;
  if (!URL.canParse(indicator)) return false;
  const asked = new URL(indicator);
  const ours = new URL(resource);
  if (asked.username !== '' || asked.password !== '' || asked.search !== '' || asked.hash !== '') return false;
  const bothLoopback = isLoopback(asked.hostname) && isLoopback(ours.hostname);
  if (asked.protocol !== ours.protocol || asked.port !== ours.port) return false;
  if (asked.hostname !== ours.hostname && !bothLoopback) return false;
  const path = asked.pathname.replace(/\/$/, '');
  return path === '' || path === ours.pathname;
}

export const everyScope: string = allScopes.join(' ');

/** The scopes we have of those named, in the order of the contract; the others are nothing to us and no error. */
export function knownScopes(text: string): readonly Scope[] {
  const named = new Set(text.split(' '));
  return allScopes.filter((scope) => named.has(scope));
}
