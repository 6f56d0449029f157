import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { errors } from 'oidc-provider';
import { SightlineError, type IssuerHost } from '../../../contract/core/index.ts';
import { temporarily } from '../error-page.ts';
import { DocumentUnavailable, type DocumentFetch, BudgetExceeded } from './document-fetch.ts';
import { documentUrl, type UrlRules, redirectUriFault } from './urls.ts';
import {
  type ClientMetadata,
  clientMetadata,
  displayName,
  keyAuthentication,
  readClaims,
  type Claims,
} from './metadata.ts';

/** draft-ietf-oauth-client-id-metadata-document §4. Redirect URIs that may not be used are left out; misfits throw. */
function clientOfDocument(id: string, document: unknown, mayFetch: UrlRules): ClientMetadata {
  const claims = readClaims(document);
  if (!hasId(document, id)) {
    throw new errors.InvalidClientMetadata('client_id of the document must be the URL of the document');
  }
  if (claims.client_secret !== undefined) {
    throw new errors.InvalidClientMetadata('a public document must not hold a client_secret');
  }
  const name = displayName(claims.client_name ?? '');
  if (name === '') throw new errors.InvalidClientMetadata('client_name is missing or empty');
  const redirectUris = claims.redirect_uris.filter((uri) => redirectUriFault(uri) === undefined);
  if (redirectUris.length === 0) {
    throw new errors.InvalidClientMetadata('redirect_uris holds none that answers may be sent to');
  }
  return { ...clientMetadata(id, name, redirectUris, claims), ...authentication(claims, mayFetch) };
}

function hasId(document: unknown, id: string): boolean {
  return typeof document === 'object' && document !== null && 'client_id' in document && document.client_id === id;
}

/** Without a word about it `none`: there is no way to share a secret with a document, §4.1. */
function authentication(claims: Claims, mayFetch: UrlRules): ReturnType<typeof keyAuthentication> {
  const method = claims.token_endpoint_auth_method ?? 'none';
  if (method === 'private_key_jwt') return keyAuthentication(claims, mayFetch);
  if (method === 'none' || claims.token_endpoint_auth_methods_supported?.includes('none') === true) {
    return { token_endpoint_auth_method: 'none' };
  }
  throw new errors.InvalidClientMetadata('token_endpoint_auth_method must be none or private_key_jwt in a document');
}

const least = 300_000;
const most = 86_400_000;

/** Milliseconds for which a document is taken as it is: as its host says, but never less than 5 minutes or more than a day. */
function documentLifetime(headers: IncomingHttpHeaders, now: Date): number {
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

/** How long a failure is remembered, so that a broken document is not asked for with every request. */
const retryMs = 60_000;
/** How long a document outlives itself while its host cannot be reached: refreshing must not end with an outage elsewhere. */
const staleMs = 86_400_000;
const capacity = 200;

interface DocumentsOptions extends Pick<IssuerHost, 'now' | 'logger'> {
  readonly fetch: DocumentFetch;
  readonly rules: UrlRules;
  /** Copies by URL, used where the document that stands there cannot be had. */
  readonly copies: ReadonlyMap<string, unknown>;
  /** Used as they are, from whatever host. */
  readonly pinned: readonly { readonly client_id: string }[];
}

/** What the page of an unavailable document says is told by this description. */
export const documentUnavailable = 'the metadata document of the client cannot be read at the moment';

const remedy =
  'Where this gateway has no way out, pin the document (issuer.clients.metadataDocuments.pinned) or set ' +
  'metadataDocuments.enabled to false.';

/** Undefined unless the id is a URL fetched here. Rejects with `invalid_client_metadata`, `temporarily_unavailable`. */
type Documents = (id: string) => Promise<ClientMetadata | undefined>;

interface Kept {
  readonly metadata: ClientMetadata;
  readonly freshUntil: number;
  readonly usableUntil: number;
}

/** Throws `config_invalid` where a pinned document is no good. */
export function createDocuments({ fetch, rules, copies, pinned, now, logger }: DocumentsOptions): Documents {
  const fixed = new Map(pinned.map((document) => [document.client_id, pinnedClient(document, rules)]));
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
    if (copies.has(id)) {
      logger.warn(
        { clientId: id, error },
        'A client metadata document cannot be had; the copy that is shipped is used.',
      );
      return keep(id, clientOfDocument(id, copies.get(id), rules), retryMs);
    }
    // The same for every reason: the reasons would tell a stranger which names our network knows.
    const answer = temporarily(documentUnavailable, 503);
    // What one caller has used up must not be another's failure, nor fill the log.
    if (error instanceof BudgetExceeded) {
      logger.debug({ clientId: id, error }, 'A client metadata document is not fetched now.');
      throw answer;
    }
    logger.warn({ clientId: id, error }, `A client metadata document cannot be had. ${remedy}`);
    failed.set(id, { error: answer, until: now().getTime() + retryMs });
    throw answer;
  }

  return async (id) => {
    const pinnedHere = fixed.get(id);
    if (pinnedHere) return pinnedHere;
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

function pinnedClient(document: DocumentsOptions['pinned'][number], rules: UrlRules): ClientMetadata {
  const id = document.client_id;
  try {
    if (documentUrl(id)) return clientOfDocument(id, document, rules);
  } catch (error) {
    if (!(error instanceof errors.InvalidClientMetadata)) throw error;
    throw new SightlineError('config_invalid', `The pinned document ${id} is no good: ${error.error_description}.`);
  }
  throw new SightlineError('config_invalid', `The client_id ${id} of a pinned document is not the URL of a document.`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new errors.InvalidClientMetadata('the document is not JSON', { cause });
  }
}

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
