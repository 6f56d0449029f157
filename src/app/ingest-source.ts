import type { IngestTokens } from '../auth/ingest-tokens.ts';
import { SightlineError } from '../contract/index.ts';
import type { IngestSource } from '../tools/index.ts';

/** Our own receiver. It only reads: the token was made with the organization. */
export function ingestSource(ingestTokens: Pick<IngestTokens, 'current'>, endpoint: string): IngestSource {
  return {
    async config(organizationId) {
      const token = await ingestTokens.current(organizationId);
      if (token === undefined) {
        throw new SightlineError('not_found', 'This organization has no ingest token.', {
          hint: 'An operator makes one with: sightline ingest rotate --org NAME',
        });
      }
      return { endpoint, token };
    },
  };
}
