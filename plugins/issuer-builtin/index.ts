import { apiVersion, authorizationServerSchema, definePlugin } from '../../src/contract/index.ts';
import { createIssuer } from './issuer.ts';

/** The built-in issuer: people sign in with a password kept here, API keys are exchanged for tokens. */
export default definePlugin({
  kind: 'issuer',
  name: 'builtin',
  apiVersion,
  configSchema: authorizationServerSchema,
  create: createIssuer,
});
