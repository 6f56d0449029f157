import { setTimeout as delay } from 'node:timers/promises';
import type { IssuerHost } from '../../../contract/core/index.ts';
import type { DocumentFetch } from './document-fetch.ts';

/** How long an answer holds. */
const holdsMs = 600_000;
/** How long a client waits for one. A network that drops packets silently gives none for longer. */
const waitMs = 2_000;

interface WayOutOptions extends Pick<IssuerHost, 'now' | 'logger'> {
  readonly fetch: DocumentFetch;
  /** Documents that are there wherever there is a way to the internet. */
  readonly urls: readonly URL[];
}

/** Whether documents of clients can be fetched. Nothing is sent out before a client wants to know. */
export function createWayOut({ fetch, urls, now, logger }: WayOutOptions): () => Promise<boolean> {
  let asked: { readonly at: number; readonly answer: Promise<boolean> } | undefined;

  const ask = () =>
    Promise.any(urls.map((url) => fetch(url))).then(
      () => true,
      () => {
        logger.info(
          { hosts: urls.map(({ host }) => host) },
          'There is no way out to fetch client metadata documents: clients are told to register themselves.',
        );
        return false;
      },
    );

  return () => {
    const at = now().getTime();
    if (!asked || at - asked.at >= holdsMs) asked = { at, answer: ask() };
    return Promise.race([asked.answer, delay(waitMs, false, { ref: false })]);
  };
}
