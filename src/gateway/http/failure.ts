import type { ServerResponse } from 'node:http';
import { SightlineError } from '../../contract/core/index.ts';
import type { Logger } from '../../contract/core/index.ts';
import { sendError } from './json.ts';

export interface FailureContext {
  /** Of the request that is answered, as the log has it. */
  readonly requestId: () => string;
  readonly logger: Logger;
}

/** What an error thrown by a route becomes. Only our own words are sent; the rest is logged under the request's id. */
export function sendFailure(error: unknown, response: ServerResponse, { requestId, logger }: FailureContext): void {
  if (response.headersSent) {
    response.destroy();
    logger.error({ error }, 'A response broke off.');
    return;
  }
  if (error instanceof SightlineError) {
    return sendError(response, error.status, error.code, error.message, error.hint);
  }
  // Express's own refusals of a malformed request carry a status.
  if (error instanceof Error && 'status' in error && error.status === 400) {
    return sendError(response, 400, 'invalid_argument', 'The request is malformed.');
  }
  const id = requestId();
  logger.error({ error, request_id: id }, 'A request failed.');
  sendError(response, 500, 'internal', 'The request failed on our side.', `Tell an operator this id: ${id}`);
}
