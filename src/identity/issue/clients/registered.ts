import { isId, type Logger } from '../../../contract/core/index.ts';
import { type ClientRepository } from '../../../contract/storage/index.ts';
import { clientMetadataSchema, type ClientMetadata } from './metadata.ts';

/** Finds clients that registered themselves, by the id they were given. */
export function createRegistered(
  repository: Pick<ClientRepository, 'find'>,
  logger: Logger,
): (id: string) => Promise<ClientMetadata | undefined> {
  return async (id) => {
    const row = isId('dcr', id) ? await repository.find(id) : undefined;
    if (!row) return undefined;
    try {
      return clientMetadataSchema.parse(JSON.parse(row.metadata));
    } catch (error) {
      logger.error({ clientId: id, error }, 'The stored metadata of a client cannot be read.');
      return undefined;
    }
  };
}
