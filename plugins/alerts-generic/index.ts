import { z } from 'zod';
import { bringsSecret } from '../../src/contract/alerts/index.ts';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { instructions } from './instructions.ts';
import { normalize } from './normalize.ts';

/** Alerts in our own small JSON, for what has no plugin: a script, a cron job, a sender with a template of its own. */
export default definePlugin({
  kind: 'alerts',
  name: 'generic',
  apiVersion,
  configSchema: z.strictObject({}),
  create: (_config, { now }) => ({
    verify: bringsSecret,
    normalize: (body) => normalize(body, now()),
    instructions,
  }),
});
