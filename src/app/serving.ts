import type { Health } from '../contract/index.ts';

/** Whether requests are served, as the readiness probe and the listener see it. */
export interface Serving {
  ready: boolean;
  health: () => Promise<Readonly<Record<string, Health>>>;
}
