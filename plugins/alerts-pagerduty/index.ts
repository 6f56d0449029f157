import { z } from 'zod';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { instructions } from './instructions.ts';
import { normalize } from './normalize.ts';
import { verify } from './verify.ts';

/** PagerDuty's V3 webhooks: an incident of theirs is an alert here. */
export default definePlugin({
  kind: 'alerts',
  name: 'pagerduty',
  apiVersion,
  configSchema: z.strictObject({}),
  create: (_config, { now }) => ({
    verify,
    normalize: (body) => normalize(body, now()),
    instructions,
  }),
});
