import { randomUUID } from 'node:crypto';
import {
  foldCase,
  generateSecret,
  newId,
  SightlineError,
  type AlertSourceId,
  type IssuerHost,
  type OrganizationId,
} from '../../contract/core/index.ts';
import type { AlertInput } from '../../contract/alerts/index.ts';
import type { Actor, AlertSource, AuditRecord } from '../../contract/storage/index.ts';

/** Who may send alerts to an organization. A secret is shown when it is made, and kept sealed. */
export interface AlertSources {
  /** Names of the plugins that a source may have. */
  readonly plugins: readonly string[];
  /** `invalid_argument` for a plugin that is not configured, `conflict` for a name that is taken. */
  add(input: {
    readonly organizationId: OrganizationId;
    readonly name: string;
    readonly plugin: string;
    readonly actor: Actor;
    /** Made here, unless the sender has its own. */
    readonly secret?: string | undefined;
  }): Promise<SourceWithSecret>;
  /** Oldest first. */
  list(organizationId: OrganizationId): Promise<readonly AddressedSource[]>;
  /** By id or name; `not_found` in any other organization. */
  find(organizationId: OrganizationId, idOrName: string): Promise<AddressedSource>;
  /** Another secret; the one before ends at once. The sender's own is given where the sender makes it. */
  rotate(organizationId: OrganizationId, idOrName: string, actor: Actor, secret?: string): Promise<SourceWithSecret>;
  remove(organizationId: OrganizationId, idOrName: string, actor: Actor): Promise<void>;
  /** For the receiver. Throws where the master key is gone. */
  secretOf(source: AlertSource): string;
  /** What the operator pastes into the sender. */
  instructions(source: AddressedSource, secret: string): string;
}

export interface AddressedSource extends AlertSource {
  /** Where its alerts are posted. */
  readonly url: string;
}

export interface SourceWithSecret {
  readonly source: AddressedSource;
  readonly secret: string;
}

interface AlertSourcesOptions extends Pick<IssuerHost, 'storage' | 'vault' | 'publicUrl' | 'now'> {
  readonly inputs: ReadonlyMap<string, AlertInput>;
}

export function createAlertSources(options: AlertSourcesOptions): AlertSources {
  const { storage, vault, inputs, publicUrl, now } = options;

  const addressed = (source: AlertSource): AddressedSource => ({ ...source, url: `${publicUrl}/alerts/${source.id}` });
  const seal = (id: AlertSourceId, secret: string): string => vault.seal(Buffer.from(secret), context(id));

  const record = (organizationId: OrganizationId, event: AuditRecord['event'], target: AlertSourceId, actor: Actor) =>
    storage
      .workspace(organizationId)
      .audit.append([{ at: now(), event, subject: actor.id, requestId: randomUUID(), target, outcome: 'ok' }]);

  async function find(organizationId: OrganizationId, idOrName: string): Promise<AddressedSource> {
    const name = foldCase(idOrName.trim());
    const all = await storage.workspace(organizationId).alertSources.list();
    const found = all.find(({ id }) => id === idOrName) ?? all.find((source) => foldCase(source.name) === name);
    if (found === undefined) throw noSource();
    return addressed(found);
  }

  return {
    plugins: [...inputs.keys()],

    async add({ organizationId, name, plugin, actor, secret = generateSecret('als') }) {
      if (!inputs.has(plugin)) {
        throw new SightlineError('invalid_argument', 'There is no such alert plugin in the config.', {
          hint: `There are: ${[...inputs.keys()].join(', ')}.`,
        });
      }
      checkSecret(secret);
      const id = newId('als');
      const source = await storage
        .workspace(organizationId)
        .alertSources.create({ id, name, plugin, sealed: seal(id, secret), createdBy: actor.id });
      await record(organizationId, 'alert_source.created', id, actor);
      return { source: addressed(source), secret };
    },

    async list(organizationId) {
      return (await storage.workspace(organizationId).alertSources.list()).map(addressed);
    },

    find,

    async rotate(organizationId, idOrName, actor, secret = generateSecret('als')) {
      checkSecret(secret);
      const source = await find(organizationId, idOrName);
      const sealed = seal(source.id, secret);
      // Somebody else may have removed it meanwhile.
      if (!(await storage.workspace(organizationId).alertSources.replaceSecret(source.id, sealed))) throw noSource();
      await record(organizationId, 'alert_source.rotated', source.id, actor);
      return { source: { ...source, sealed }, secret };
    },

    async remove(organizationId, idOrName, actor) {
      const { id } = await find(organizationId, idOrName);
      if (!(await storage.workspace(organizationId).alertSources.remove(id))) throw noSource();
      await record(organizationId, 'alert_source.removed', id, actor);
    },

    secretOf: ({ id, sealed }) => Buffer.from(vault.open(sealed, context(id))).toString(),

    instructions({ plugin, url }, secret) {
      return inputs.get(plugin)?.instructions({ url, secret }) ?? '';
    },
  };
}

function noSource(): SightlineError {
  return new SightlineError('not_found', 'There is no such alert source.');
}

/** One that a sender made: long enough not to be guessed, and of what a header can hold. */
function checkSecret(secret: string): void {
  if (/^[\x21-\x7e]{16,512}$/.test(secret)) return;
  throw new SightlineError('invalid_argument', 'A secret has 16 to 512 printable ASCII characters and no spaces.');
}

function context(id: AlertSourceId): string {
  return `alert-source:${id}`;
}
