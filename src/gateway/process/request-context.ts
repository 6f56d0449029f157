import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

const requests = new AsyncLocalStorage<string | undefined>();

/** Whatever is logged while it runs, and in what it sets going, has the request's id. */
export function inRequest(run: () => void): void {
  requests.run(randomUUID(), run);
}

/** For what a request only sets off, and what is not its own then. */
export function outsideRequests(run: () => void): void {
  requests.run(undefined, run);
}

/** Of the request in which this stands; a new one outside of all. */
export function currentRequestId(): string {
  return requests.getStore() ?? randomUUID();
}

/** For every line of the log. */
export function requestFields(): object {
  const id = requests.getStore();
  return id === undefined ? {} : { request_id: id };
}
