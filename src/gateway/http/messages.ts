import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

/** What a server makes its requests and responses of: `createServer` takes them by these names. */
export interface Messages {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
}

/** Classes of one server, for one app to adopt. */
export function createMessages(): Messages {
  return {
    IncomingMessage: class extends IncomingMessage {},
    ServerResponse: class<Request extends IncomingMessage> extends ServerResponse<Request> {},
  };
}

/**
 * Makes the app's prototypes those that the server's messages have from the start. Express sets them on each message, and
 * that of an object in use costs 5 % of a small call. A server of other messages works as well.
 */
export function adoptMessages(app: Express, { IncomingMessage: request, ServerResponse: response }: Messages): void {
  Object.setPrototypeOf(request.prototype, app.request);
  Object.setPrototypeOf(response.prototype, app.response);
  Object.assign(app, { request: request.prototype, response: response.prototype });
}
