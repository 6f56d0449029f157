import { SightlineError, type Logger } from '../contract/core/index.ts';
import { alert } from './components.ts';
import { html } from './html.ts';
import type { View } from './page.ts';

const titles: Readonly<Record<number, string>> = {
  403: 'This is not open to you',
  404: 'There is nothing here',
  413: 'That is too much',
  429: 'Too many attempts',
  503: 'Not available just now',
};

/** An error as a page: the sentence written for people, or a request id with which an operator finds it in the log. */
export function failureView(error: unknown, requestId: string, logger: Logger): View {
  if (error instanceof SightlineError && error.status < 500) {
    return {
      title: titles[error.status] ?? 'That did not work',
      body: html`<p>${error.message}</p>
        ${error.hint !== undefined && html`<p>${error.hint}</p>`}`,
      card: true,
      status: error.status,
      retryAfterSeconds: error.retryAfterSeconds,
    };
  }
  logger.error({ error, request_id: requestId }, 'A page failed.');
  const known = error instanceof SightlineError && error.status === 503;
  return {
    title: known ? (titles[503] ?? '') : 'Something went wrong on our side',
    body: html`<p>${known ? error.message : 'Try again in a moment.'}</p>
      <p class="soft">If it goes on, tell an operator this id: <code>${requestId}</code></p>`,
    card: true,
    status: known ? 503 : 500,
    ...(known && { retryAfterSeconds: error.retryAfterSeconds }),
  };
}

/** The sentence of a failure that a person can mend, for showing it in the form; anything else is thrown on. */
export function refusal(error: unknown) {
  if (!(error instanceof SightlineError) || error.status >= 500) throw error;
  const { message, hint, status, retryAfterSeconds } = error;
  return { message: alert(hint === undefined ? message : `${message} ${hint}`), status, retryAfterSeconds };
}
