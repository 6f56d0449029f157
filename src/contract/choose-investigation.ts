import type { Investigation } from './investigation.ts';

/**
 * The one that tells about an incident, of its investigations, the newest first: the newest that works, waits or found
 * something; else the newest. One that only answered from what was found before tells nothing new.
 */
export function chooseInvestigation(newestFirst: readonly Investigation[]): Investigation | undefined {
  const telling = newestFirst.find(
    ({ status, conclusion }) =>
      status === 'queued' || status === 'running' || status === 'waiting' || conclusion !== undefined,
  );
  return telling ?? newestFirst[0];
}
