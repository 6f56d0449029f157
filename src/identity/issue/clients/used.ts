import { isId } from '../../../contract/core/index.ts';
import { type ClientRepository } from '../../../contract/storage/index.ts';

/** A person authorized the client: if it registered itself, its registration is kept from now on. */
export function createUse(
  repository: Pick<ClientRepository, 'markUsed'>,
  now: () => Date,
): (id: string) => Promise<void> {
  return async (id) => {
    if (isId('dcr', id)) await repository.markUsed(id, now());
  };
}
