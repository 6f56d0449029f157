import { isId, SightlineError } from '../../../contract/core/index.ts';
import type { ApiKey, Workspace } from '../../../contract/storage/index.ts';

/**
 * A key of this organization, which has to be asked before anything is done to it: the service changes whatever key it is
 * named, as an operator may. One of another organization is answered like one that was never there.
 */
export async function findKey({ keys }: Workspace, id: string | undefined): Promise<ApiKey> {
  const key = id !== undefined && isId('ak', id) ? await keys.get(id) : undefined;
  if (key) return key;
  throw new SightlineError('not_found', 'There is no such API key in this organization.');
}
