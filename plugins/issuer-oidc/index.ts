import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { configSchema } from './config.ts';
import { createIssuer } from './issuer.ts';

/** The company's own identity provider: people sign in there, and where it is ready for that it gives out the tokens. */
export default definePlugin({ kind: 'issuer', name: 'oidc', apiVersion, configSchema, create: createIssuer });
