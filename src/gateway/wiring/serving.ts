import type { Config } from '../config/schema.ts';
import type { Health } from '../../contract/core/index.ts';

/** Whether requests are served, as the readiness probe and the listener see it. */
export interface Serving {
  ready: boolean;
  health: () => Promise<Readonly<Record<string, Health>>>;
}

/** A `read_chat` may wait 25 s; a query as long as the configuration lets it. */
export function longestCallMs({ limits }: Config): number {
  return Math.max(25_000, limits.queryTimeoutSeconds * 1_000);
}
