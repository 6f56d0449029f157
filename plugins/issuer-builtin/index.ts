import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { authorizationServerSchema } from '../../src/contract/issuer/index.ts';
import { createIssuer } from './issuer.ts';

/** The built-in issuer: people sign in with a password kept here, API keys are exchanged for tokens. */
export default definePlugin({
  kind: 'issuer',
  name: 'builtin',
  apiVersion,
  configSchema: authorizationServerSchema,
  create: createIssuer,
});
