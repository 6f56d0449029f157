import {
  generateSecret,
  hashSecret,
  isId,
  newId,
  SightlineError,
  type IssuerHost,
  type KeyId,
  type OrganizationId,
} from '../../contract/core/index.ts';
import { scopes as allScopes, type Scope } from '../../contract/issuer/index.ts';
import type { Actor, ApiKey } from '../../contract/storage/index.ts';
import { createTrail } from '../people/trail.ts';

/** The secret is shown this once: only its hash is kept. */
interface KeyCredentials {
  readonly clientId: KeyId;
  readonly clientSecret: string;
}

/** The life of API keys. Each change is in the audit log before its promise resolves; so is each refusal. */
export interface ApiKeys {
  create(input: {
    readonly organizationId: OrganizationId;
    /** A label for people, 1 to 100 characters. */
    readonly name: string;
    readonly scopes: readonly Scope[];
    readonly actor: Actor;
  }): Promise<KeyCredentials & { readonly key: ApiKey }>;
  /** Adds a second secret; the first goes on working. `conflict` when two are active already. */
  rotate(clientId: string, actor: Actor): Promise<KeyCredentials>;
  /** Deletes the older of two secrets, whose tokens end with the next request. `conflict` when there is but one. */
  retire(clientId: string, actor: Actor): Promise<void>;
  /** The same for the newer: for one that was lost before anything used it. */
  discard(clientId: string, actor: Actor): Promise<void>;
  /** Refuses every secret and token of the key from the next request on, until it is resumed. */
  pause(clientId: string, actor: Actor): Promise<void>;
  resume(clientId: string, actor: Actor): Promise<void>;
  /** Deletes the key with every secret on it; the tokens it minted end with the next request. */
  revoke(clientId: string, actor: Actor): Promise<void>;
  list(organizationId: OrganizationId): Promise<readonly ApiKey[]>;
}

/** By which a secret is told from an access token. */
export const keySecretPrefix = 'aks';

export function createApiKeys({ storage, now }: Pick<IssuerHost, 'storage' | 'now'>): ApiKeys {
  const newSecret = () => {
    const secret = generateSecret(keySecretPrefix);
    return { secret, stored: { id: newId('sec'), hash: hashSecret(secret), lastFour: secret.slice(-4) } };
  };

  const trail = createTrail({ storage, now });

  /** Keys are named by their id alone on the command line, so the organization is looked up. */
  async function locate(clientId: string): Promise<{ readonly id: KeyId; readonly organizationId: OrganizationId }> {
    const found = isId('ak', clientId) ? await storage.directory.keyForExchange(clientId) : undefined;
    if (!found) {
      throw new SightlineError('not_found', `There is no API key ${JSON.stringify(clientId.slice(0, 64))}.`, {
        hint: 'A client id looks like ak_01hx… and is listed by: sightline key list',
      });
    }
    return found;
  }

  const removing = (which: 'older' | 'newer') => async (clientId: string, actor: Actor) => {
    const { id, organizationId } = await locate(clientId);
    const event = which === 'older' ? 'key.retired' : 'key.discarded';
    await trail.during(organizationId, { event, subject: actor.id, target: id }, () =>
      reworded(
        storage.workspace(organizationId).keys.removeSecret(id, which),
        'This key has one active secret; without it the key would have none.',
        `Rotate the key first, or revoke it: sightline key rotate ${id}, sightline key revoke ${id}`,
      ),
    );
  };

  const pausing = (paused: boolean) => async (clientId: string, actor: Actor) => {
    const { id, organizationId } = await locate(clientId);
    const event = paused ? 'key.paused' : 'key.resumed';
    await trail.during(organizationId, { event, subject: actor.id, target: id }, () =>
      storage.workspace(organizationId).keys.setPaused(id, paused),
    );
  };

  return {
    async create({ organizationId, name, scopes, actor }) {
      const label = checkedName(name);
      const granted = checkedScopes(scopes);
      const id = newId('ak');
      const { secret, stored } = newSecret();
      const key = await trail.during(organizationId, { event: 'key.created', subject: actor.id, target: id }, () =>
        storage
          .workspace(organizationId)
          .keys.create({ id, name: label, scopes: granted, secret: stored, createdBy: actor.id }),
      );
      return { clientId: id, clientSecret: secret, key };
    },

    async rotate(clientId, actor) {
      const { id, organizationId } = await locate(clientId);
      const { secret, stored } = newSecret();
      await trail.during(organizationId, { event: 'key.rotated', subject: actor.id, target: id }, () =>
        reworded(
          storage.workspace(organizationId).keys.addSecret(id, stored),
          'This key has two active secrets already, which is the most it can have.',
          'Retire the older one once the newer is in use everywhere, or discard the newer one if it is lost: ' +
            `sightline key retire ${id}, sightline key discard ${id}`,
        ),
      );
      return { clientId: id, clientSecret: secret };
    },

    retire: removing('older'),
    discard: removing('newer'),
    pause: pausing(true),
    resume: pausing(false),

    async revoke(clientId, actor) {
      const { id, organizationId } = await locate(clientId);
      await trail.during(organizationId, { event: 'key.revoked', subject: actor.id, target: id }, async () => {
        // Another operator may have been first.
        if (!(await storage.workspace(organizationId).keys.revoke(id))) {
          throw new SightlineError('not_found', `There is no API key "${id}".`);
        }
      });
    },

    list: (organizationId) => storage.workspace(organizationId).keys.list(),
  };
}

/** The store knows that it is a conflict; what to do about it is known here. */
async function reworded<Result>(change: Promise<Result>, message: string, hint: string): Promise<Result> {
  try {
    return await change;
  } catch (cause) {
    if (cause instanceof SightlineError && cause.code === 'conflict') {
      throw new SightlineError('conflict', message, { hint, cause });
    }
    throw cause;
  }
}

function checkedName(name: string): string {
  const label = name.trim();
  if (label.length < 1 || label.length > 100 || /\p{Cc}/u.test(label)) {
    throw new SightlineError(
      'invalid_argument',
      'A key needs a name of 1 to 100 characters, without control characters.',
    );
  }
  return label;
}

/** In the order of the contract and each once, so that equal grants are written equally. */
function checkedScopes(requested: readonly string[]): readonly Scope[] {
  const known: readonly string[] = allScopes;
  const unknown = requested.find((scope) => !known.includes(scope));
  if (unknown !== undefined || requested.length === 0) {
    const named = unknown === undefined ? undefined : JSON.stringify(unknown.slice(0, 64));
    const message = named === undefined ? 'A key needs at least one scope.' : `${named} is not a scope.`;
    throw new SightlineError('invalid_argument', message, { hint: `Scopes: ${allScopes.join(', ')}` });
  }
  return allScopes.filter((scope) => requested.includes(scope));
}
