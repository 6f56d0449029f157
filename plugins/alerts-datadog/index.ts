import { z } from 'zod';
import { bringsSecret } from '../../src/contract/alerts/index.ts';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { instructions } from './instructions.ts';
import { normalize } from './normalize.ts';

/** Datadog's webhooks with the payload in template.ts: Datadog has no payload of its own. */
export default definePlugin({
  kind: 'alerts',
  name: 'datadog',
  apiVersion,
  configSchema: z.strictObject({}),
  create: (_config, { now }) => ({
    verify: bringsSecret,
    normalize: (body) => normalize(body, now()),
    instructions,
  }),
});
