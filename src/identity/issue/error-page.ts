import { createHash } from 'node:crypto';
import { errors } from 'oidc-provider';
import { escapeHtml } from '../../contract/core/quote.ts';
import type { Logger } from '../../contract/core/index.ts';

/** An answer that is not about the request: come back later. Its words are ours and reach the client. */
export function temporarily(description: string, status: 429 | 503, cause?: unknown): errors.OIDCProviderError {
  const code = status === 429 ? 'slow_down' : 'temporarily_unavailable';
  const error = new errors.OIDCProviderError(status, code, { cause });
  error.error_description = description;
  // The library hides what a 5xx says; these words are ours.
  error.expose = true;
  return error;
}

/** An unreachable storage must not look like an invalid token or client: the answer says to retry. */
export type Reach = <Result>(work: Promise<Result>) => Promise<Result>;

export function createReach(logger: Logger): Reach {
  return async (work) => {
    try {
      return await work;
    } catch (cause) {
      if (cause instanceof errors.OIDCProviderError) throw cause;
      logger.error({ error: cause }, 'What an authorization needs could not be read or written.');
      throw temporarily('the server cannot reach its storage at the moment', 503, cause);
    }
  };
}

/** Shown to a person whose browser cannot be sent back to the application. */
interface Failure {
  readonly title: string;
  readonly text: string;
  /** For the application's maker: the protocol's code and description. */
  readonly detail: string;
}

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1.25rem}h1{font-size:1.4rem}code{font-size:.85rem;overflow-wrap:anywhere}';
const styleHash = createHash('sha256').update(style).digest('base64');

export const errorPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
} as const;

const words: Readonly<Record<string, readonly [title: string, text: string]>> = {
  invalid_client: [
    'This application is not known here',
    'The application that sent you could not be identified. Remove the connection in it and add it again.',
  ],
  invalid_client_metadata: [
    'This application cannot be connected',
    'What the application says about itself is not acceptable here. Its maker has to correct it.',
  ],
  invalid_redirect_uri: [
    'This application cannot be connected',
    'It asked to be answered at an address that it has not registered, so nothing was sent there.',
  ],
  session_not_found: [
    'This request has ended',
    'It took too long, was answered already, or began in another browser. Go back to the application and connect again.',
  ],
  temporarily_unavailable: ['Please try again in a moment', 'The service cannot answer right now.'],
  document_unavailable: [
    'This application cannot be read about just now',
    'The service could not fetch the document in which the application describes itself. Try again in a moment. If it goes ' +
      'on, tell an operator of this service: where it cannot reach the internet, they pin that document ' +
      '(issuer.clients.metadataDocuments.pinned) or set metadataDocuments.enabled to false, and applications register themselves.',
  ],
  slow_down: ['Please wait a minute', 'Too many requests came from your network.'],
  server_error: ['Something went wrong on our side', 'Please try again. If it happens again, tell your administrator.'],
};

const otherwise = [
  'This application’s request cannot be answered',
  'Nothing was given to the application. Go back to it and connect again; if that does not help, tell its maker.',
] as const;

export function failureOf(error: string, description: string | undefined): Failure {
  const [title, text] = (Object.hasOwn(words, error) ? words[error] : undefined) ?? otherwise;
  return { title, text, detail: description === undefined ? error : `${error}: ${description}` };
}

/** A page of its own: no script, nothing loaded, everything escaped. */
export function errorPage({ title, text, detail }: Failure): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
<p><code>${escapeHtml(detail)}</code></p>
</main>
</body>
</html>
`;
}
