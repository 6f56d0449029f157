import type { SigningAlgorithm } from '../../src/contract/issuer/index.ts';

/** What providers sign with. Never a shared secret (HS256), never `none`. */
export const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const satisfies readonly SigningAlgorithm[];
