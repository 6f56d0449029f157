import { LRUCache } from 'lru-cache';
import { errors } from 'oidc-provider';
import type { Logger } from '../../../contract/core/index.ts';
import { temporarily } from '../failures.ts';
import { documentLifetime } from './document-lifetime.ts';
import { clientOfDocument } from './document-metadata.ts';
import { DocumentUnavailable, type DocumentFetch } from './document-fetch.ts';
import { documentUrl, type UrlRules } from './document-urls.ts';
import { BudgetExceeded } from './fetch-budget.ts';
import type { ClientMetadata } from './metadata.ts';

/** How long a failure is remembered, so that a broken document is not asked for with every request. */
const retryMs = 60_000;
/** How long a document outlives itself while its host cannot be reached: refreshing must not end with an outage elsewhere. */
const staleMs = 86_400_000;
const capacity = 200;

export interface DocumentsOptions {
  readonly fetch: DocumentFetch;
  readonly rules: UrlRules;
  /** Documents by URL, used where the one that stands there cannot be had. */
  readonly pinned: ReadonlyMap<string, unknown>;
  readonly now: () => Date;
  readonly logger: Logger;
}

/**
 * The client whose id is the URL of its metadata; undefined where the id is no URL that is fetched here. Rejects with an
 * error of oidc-provider: `invalid_client_metadata` and the reason where the document is no good, `temporarily_unavailable`
 * without one where it cannot be had.
 */
export type Documents = (id: string) => Promise<ClientMetadata | undefined>;

interface Kept {
  readonly metadata: ClientMetadata;
  readonly freshUntil: number;
  readonly usableUntil: number;
}

export function createDocuments({ fetch, rules, pinned, now, logger }: DocumentsOptions): Documents {
  const kept = new LRUCache<string, Kept>({ max: capacity });
  const failed = new LRUCache<string, { readonly error: Error; readonly until: number }>({ max: capacity });
  const pending = new Map<string, Promise<ClientMetadata>>();

  function keep(id: string, metadata: ClientMetadata, lifetimeMs: number, usableUntil?: number): ClientMetadata {
    const freshUntil = now().getTime() + lifetimeMs;
    kept.set(id, { metadata, freshUntil, usableUntil: usableUntil ?? freshUntil + staleMs });
    return metadata;
  }

  async function read(id: string, url: URL): Promise<ClientMetadata> {
    try {
      const { text, headers } = await fetch(url);
      return keep(id, clientOfDocument(id, parse(text), rules), documentLifetime(headers, now()));
    } catch (error) {
      if (error instanceof errors.OIDCProviderError) {
        logger.warn({ clientId: id, error }, 'A client metadata document was refused.');
        kept.delete(id);
        failed.set(id, { error, until: now().getTime() + retryMs });
        throw error;
      }
      return instead(id, error);
    }
  }

  /** What is known of the client otherwise, while its document cannot be had. */
  function instead(id: string, error: unknown): ClientMetadata {
    const before = kept.get(id);
    const withdrawn = error instanceof DocumentUnavailable && error.withdrawn;
    if (before && before.usableUntil > now().getTime() && !withdrawn) {
      logger.warn({ clientId: id, error }, 'A client metadata document cannot be had; the one read before is used.');
      return keep(id, before.metadata, retryMs, before.usableUntil);
    }
    kept.delete(id);
    if (pinned.has(id)) {
      logger.warn(
        { clientId: id, error },
        'A client metadata document cannot be had; the copy that is shipped is used.',
      );
      return keep(id, clientOfDocument(id, pinned.get(id), rules), retryMs);
    }
    // The same for every reason: the reasons would tell a stranger which names our network knows.
    const answer = temporarily(
      'the metadata document of the client cannot be read at the moment',
      503,
      'temporarily_unavailable',
    );
    // What one caller has used up must not be another's failure, nor fill the log.
    if (error instanceof BudgetExceeded) {
      logger.debug({ clientId: id, error }, 'A client metadata document is not fetched now.');
      throw answer;
    }
    logger.warn({ clientId: id, error }, 'A client metadata document cannot be had.');
    failed.set(id, { error: answer, until: now().getTime() + retryMs });
    throw answer;
  }

  return async (id) => {
    const url = documentUrl(id);
    if (!url || !rules(url)) return undefined;
    const known = kept.get(id);
    if (known && known.freshUntil > now().getTime()) return known.metadata;
    const failure = failed.get(id);
    if (failure && failure.until > now().getTime()) throw failure.error;
    const running = pending.get(id);
    if (running) return running;
    const reading = read(id, url).finally(() => pending.delete(id));
    pending.set(id, reading);
    return reading;
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new errors.InvalidClientMetadata('the document is not JSON', { cause });
  }
}
