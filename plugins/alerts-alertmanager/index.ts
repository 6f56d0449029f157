import { z } from 'zod';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { instructions } from './instructions.ts';
import { normalize } from './normalize.ts';
import { verify } from './verify.ts';

/** Prometheus Alertmanager's webhook (version 4), and Grafana's, which has the same shape and more. */
export default definePlugin({
  kind: 'alerts',
  name: 'alertmanager',
  apiVersion,
  configSchema: z.strictObject({}),
  create: (_config, { now }) => ({
    verify: (request, secret) => verify(request, secret, now()),
    normalize: (body) => normalize(body, now()),
    instructions,
  }),
});
