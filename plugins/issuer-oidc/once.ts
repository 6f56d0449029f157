import { hashSecret } from '../../src/contract/core/index.ts';
import type { ArtifactRepository } from '../../src/contract/storage/index.ts';

const model = 'SignIn';

/** True the first time a value is shown to any gateway over the storage, until it expires. */
export function createOnce(
  artifacts: () => Pick<ArtifactRepository, 'upsert' | 'consume'>,
  now: () => Date,
): (value: string, expiresAt: Date) => Promise<boolean> {
  return async (value, expiresAt) => {
    const id = hashSecret(value);
    // Of those who write it at once one alone consumes it; writing it again makes it no newer.
    await artifacts().upsert({ model, id, payload: '{}', expiresAt });
    return artifacts().consume(model, id, now());
  };
}
