import { errors, type Adapter, type AdapterPayload } from 'oidc-provider';
import { z } from 'zod';
import { hashSecret, SightlineError, type IssuerHost } from '../../contract/core/index.ts';
import type { Artifact, ArtifactRepository } from '../../contract/storage/index.ts';
import type { Reach } from './error-page.ts';

/**
 * How long a used refresh token still gets its successor, while that is unused: several calls or processes of a client refresh
 * at once, or an answer is lost on its way. All get the same one, so there is one branch, and a thief's use of it shows.
 */
const graceMs = 600_000;

interface AdapterOptions extends Pick<IssuerHost, 'vault' | 'now' | 'logger'> {
  /** A function, since storage may open after construction. */
  readonly artifacts: () => ArtifactRepository;
  readonly findClient: (id: string) => Promise<AdapterPayload | undefined>;
  /** Ends a grant with everything that came of it, access tokens too. */
  readonly revokeGrant: (id: string) => Promise<void>;
  /** The one refresh token that takes the place of this one. */
  readonly successor: (token: string) => string;
  readonly reach: Reach;
}

/** We wrote it ourselves, and the library checks what it needs of it. */
const payloadSchema = z.custom<AdapterPayload>((value) => typeof value === 'object' && value !== null);

/** What oidc-provider keeps. A bearer shows its ids, so they are stored as hashes; an interaction is sealed. */
export function createAdapter(options: AdapterOptions): (model: string) => Adapter {
  return (model) => {
    if (model === 'Client') return clientAdapter(options);
    return model === 'Session' ? forgetful : artifactAdapter(model, options);
  };
}

function artifactAdapter(model: string, options: AdapterOptions): Adapter {
  const { artifacts, revokeGrant, successor, reach, vault, now, logger } = options;
  const idOf = (id: string) => (model === 'Grant' ? id : hashSecret(id));
  const sealed = model === 'Interaction';
  const context = (stored: string) => `oauth:${model}:${stored}`;

  /** Sealed with a master key that is gone: as if it had expired. */
  function read({ payload, id }: Artifact): AdapterPayload | undefined {
    try {
      return payloadSchema.parse(
        JSON.parse(sealed ? Buffer.from(vault.open(payload, context(id))).toString() : payload),
      );
    } catch (error) {
      if (!(error instanceof SightlineError)) throw error;
      logger.warn({ error, model }, 'An authorization under way does not open with this master key.');
      return undefined;
    }
  }

  /** Whether a refresh token that was used at this time may be shown again. */
  async function inGrace(token: string, usedAt: number): Promise<boolean> {
    if (now().getTime() - usedAt > graceMs) return false;
    // None where the process that used the token ended before it kept what follows.
    const next = await reach(artifacts().find(model, idOf(successor(token))));
    return next?.consumedAt === undefined;
  }

  return {
    async upsert(id, { jti: _id, ...payload }, expiresIn) {
      const key = idOf(id);
      const text = JSON.stringify(payload);
      // A grant belongs to itself, so that revoking it removes it with all that hangs on it.
      const grantId = model === 'Grant' ? id : payload.grantId;
      await reach(
        artifacts().upsert({
          model,
          id: key,
          payload: sealed ? vault.seal(Buffer.from(text), context(key)) : text,
          ...(grantId === undefined ? {} : { grantId }),
          ...(expiresIn === undefined ? {} : { expiresAt: new Date(now().getTime() + expiresIn * 1000) }),
        }),
      );
      // A client's assertion, which the library found unused a moment ago: one of those who did may go on.
      if (model === 'ReplayDetection' && !(await reach(artifacts().consume(model, key, now())))) {
        throw new errors.InvalidClientAuth('client assertion tokens must only be used once');
      }
    },
    async find(id) {
      const found = await reach(artifacts().find(model, idOf(id)));
      const payload = found && read(found);
      if (!found || !payload) return undefined;
      const usedAt = found.consumedAt?.getTime();
      // Gone on from before it was answered: another request has taken its place.
      if (model === 'Interaction' && usedAt !== undefined && payload.result === undefined) return undefined;
      if (usedAt === undefined || (model === 'RefreshToken' && (await inGrace(id, usedAt))))
        return { ...payload, jti: id };
      return { ...payload, jti: id, consumed: Math.floor(usedAt / 1000) };
    },
    async consume(id) {
      if (await reach(artifacts().consume(model, idOf(id), now()))) return;
      // Somebody was first since `find`: they get the same refresh token, but a code is redeemed once.
      if (model === 'RefreshToken') return;
      const grantId = (await reach(artifacts().find(model, idOf(id))))?.grantId;
      if (grantId !== undefined) await reach(revokeGrant(grantId));
      throw new errors.InvalidGrant('already used');
    },
    async destroy(id) {
      // Both go with what `revokeByGrantId` ends, and no sooner: were the token gone and its grant still there, for storage
      // failed between, the next try would find nothing to end.
      if (model === 'Grant' || model === 'RefreshToken') return;
      if (model === 'Interaction') {
        // The browser goes on: of several who found the same request, one, or each would get a code or a request of its own. It
        // stays until it expires, so that who answers twice is told.
        if (await reach(artifacts().consume(model, idOf(id), now()))) return;
        throw new errors.SessionNotFound('the request was answered already');
      }
      await reach(artifacts().destroy(model, idOf(id)));
    },
    async revokeByGrantId(grantId) {
      // The library asks each kind of token in turn, always access tokens, and one answer ends them all.
      if (model === 'AccessToken') await reach(revokeGrant(grantId));
    },
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
  };
}

const nothing = async (): Promise<undefined> => undefined;

/** Never stores the library's session: the consent page identifies the person each time. */
const forgetful: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUid: nothing,
  findByUserCode: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
};

/** Clients are read here and written elsewhere. */
function clientAdapter({ findClient, reach }: AdapterOptions): Adapter {
  const refuse = async () => {
    throw new Error('a client is not written through the protocol library');
  };
  return { ...forgetful, find: (id) => reach(findClient(id)), upsert: refuse, consume: refuse, destroy: refuse };
}
