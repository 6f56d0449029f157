import { errors } from 'oidc-provider';
import type { Logger } from '../../contract/core/index.ts';

/** An answer that is not about the request: come back later. Its words are ours and reach the client. */
export function temporarily(
  description: string,
  status: number,
  code: string,
  cause?: unknown,
): errors.OIDCProviderError {
  const error = new errors.OIDCProviderError(status, code, { cause });
  error.error_description = description;
  // The library hides what a 5xx says; these words are ours.
  error.expose = true;
  return error;
}

/** That storage cannot be reached says nothing about a token or a client: they are told to come back. */
export type Reach = <Result>(work: Promise<Result>) => Promise<Result>;

export function createReach(logger: Logger): Reach {
  return async (work) => {
    try {
      return await work;
    } catch (cause) {
      if (cause instanceof errors.OIDCProviderError) throw cause;
      logger.error({ error: cause }, 'What an authorization needs could not be read or written.');
      throw temporarily('the server cannot reach its storage at the moment', 503, 'temporarily_unavailable', cause);
    }
  };
}
