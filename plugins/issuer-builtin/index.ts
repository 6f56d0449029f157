import { z } from 'zod';
import { apiVersion, definePlugin } from '../../src/contract/index.ts';
import { createIssuer } from './issuer.ts';

/** The built-in issuer: tokens for API keys, by the OAuth 2.1 client credentials grant. */
export default definePlugin({
  kind: 'issuer',
  name: 'builtin',
  apiVersion,
  configSchema: z.strictObject({
    signingKeyDays: z.coerce
      .number()
      .int()
      .min(1)
      .max(365)
      .default(30)
      .meta({ description: 'Days after which another key signs the tokens' }),
  }),
  create: createIssuer,
});
