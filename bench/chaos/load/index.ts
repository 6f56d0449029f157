import { chats } from './chats.ts';
import type { LoadContext } from './line.ts';
import { operator } from './operator.ts';
import { queries } from './queries.ts';
import { telemetry } from './telemetry.ts';
import { tokens } from './tokens.ts';

/** All lines at once; resolves when the last one has stopped. */
export async function runLoad(context: LoadContext): Promise<void> {
  await Promise.all([
    ...[1, 2, 3].map((line) => chats(context, line)),
    ...[1, 2].map((line) => telemetry(context, line)),
    ...[1, 2].map(() => queries(context)),
    tokens(context),
    operator(context),
  ]);
}
