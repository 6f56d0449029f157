import { exchange } from '../client.ts';
import { noted, runLine, type LoadContext } from './line.ts';

/** Exchanges the key for tokens. */
export function tokens(context: LoadContext): Promise<void> {
  const { stage, ledger, key } = context;
  return runLine(context, 80, async () => {
    ledger.tokens.sent += 1;
    const { token, replica } = await noted(
      context,
      'token exchange',
      () => exchange(stage.url, key),
      (answer) => (answer.token === undefined ? `${answer.status} ${answer.body.slice(0, 300)}` : undefined),
    );
    if (token !== undefined) ledger.tokens.given.push({ at: performance.now(), replica });
  });
}
