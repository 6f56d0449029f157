import type { Command } from 'commander';
import { z } from 'zod';
import { foldCase } from '../contract/core/index.ts';
import { operations } from '../gateway/admin/index.ts';
import { provisioningRules, telemetryElsewhere } from '../gateway/admin/organizations.ts';
import { checked, type AdminServices, type Operation } from '../gateway/admin/operation.ts';
import { collectorSource, ingestSource } from '../gateway/wiring/ingest-source.ts';
import { deriveUrls } from '../gateway/wiring/urls.ts';
import type { Settings } from '../gateway/wiring/settings.ts';
import type { OpenWorkspace } from '../gateway/wiring/workspace.ts';
import { overHttp, type Progress, type Way } from './admin-http.ts';
import { act, noOrganization, onlyOf, operator, requireGateway, withWorkspace, type Call } from './command.ts';
import type { Output } from './output.ts';

type NamedOrganization = z.output<typeof operations.listOrganizations.output>['items'][number];

/** The operations of the admin interface, on the storage of this machine or on a gateway elsewhere. */
export interface Admin {
  /** @param organization by name or id; without one, the only one there is. */
  perform<Input extends z.ZodObject, Result extends z.ZodObject>(
    operation: Operation<Input, Result>,
    input: z.input<Input>,
    organization?: string,
    onProgress?: Progress,
  ): Promise<z.output<Result>>;
  readonly stream: Way['stream'];
  /** That of this name or id; without one all. */
  organizations(name: string | undefined): Promise<readonly NamedOrganization[]>;
}

export interface AdminCall<Options> extends Call<Options> {
  readonly admin: Admin;
}

const remote = z.object({ url: z.string().optional(), token: z.string().optional() });

/** Gives the command the options that name a gateway elsewhere. */
export function acceptRemote(command: Command): void {
  command
    .option('--url <url>', 'a remote gateway, through its admin interface')
    .option('--token <secret>', 'the secret of an admin key, for --url (default: SIGHTLINE_ADMIN_KEY)');
}

/** Whether the command is for a gateway elsewhere. */
export function isRemote(command: Command): boolean {
  return remote.parse(command.opts()).url !== undefined;
}

/** Runs the action on this machine's storage, or on the gateway that was named. */
export function onAdmin<Options>(
  command: Command,
  call: Call<Options>,
  action: (call: AdminCall<Options>) => Promise<void>,
): Promise<void> {
  const { url, token = process.env['SIGHTLINE_ADMIN_KEY'] } = remote.parse(command.opts());
  if (url !== undefined) return action({ ...call, admin: adminOver(overHttp(url, token)) });
  return withWorkspace(call.settings, (workspace) =>
    action({ ...call, admin: adminOver(onStorage(workspace, call.settings)) }),
  );
}

/** Gives the command an action that does not know where it works. */
export function actOnAdmin<Shape extends z.ZodType>(
  command: Command,
  output: Output,
  options: Shape,
  action: (call: AdminCall<z.output<Shape>>) => Promise<void>,
): void {
  acceptRemote(command);
  act(command, output, options, (call) => onAdmin(command, call, action));
}

/** Who made something, as a table shows it: members by their address, anybody else by what is kept of them. */
export async function authorsOf(
  { json }: Output,
  admin: Admin,
  org: string | undefined,
): Promise<(id: string | null) => string> {
  const addresses = new Map<string, string>();
  for (const { id: organization } of json ? [] : await admin.organizations(org)) {
    const { items } = await admin.perform(operations.listPeople, {}, organization);
    for (const { id, email } of items) addresses.set(id, email);
  }
  return (id) => (id === null ? 'unknown' : (addresses.get(id) ?? id));
}

function adminOver({ send, stream }: Way): Admin {
  const perform: Admin['perform'] = async (operation, input, name, onProgress) => {
    const organization = operation.of === 'organization' ? onlyOf(await named(name)).id : undefined;
    return operation.output.parse(await send(operation, { ...input }, organization, onProgress));
  };

  async function named(name: string | undefined): Promise<readonly NamedOrganization[]> {
    const { items } = await perform(operations.listOrganizations, {});
    if (name === undefined) return items;
    const found =
      items.find(({ id }) => id === name) ?? items.find((each) => foldCase(each.name) === foldCase(name.trim()));
    return [found ?? noOrganization(name)];
  }

  return { perform, stream, organizations: named };
}

function onStorage(workspace: OpenWorkspace, settings: Settings): Way {
  const call = { services: servicesOf(workspace, settings), actor: operator() };
  return {
    async send(operation, input, id, onProgress) {
      const organization = id === undefined ? undefined : await workspace.storage.directory.findOrganization(id);
      return operation.run({ ...call, onProgress, ...(organization && { organization }) }, checked(operation, input));
    },
    async stream(operation, input, write, onProgress) {
      await operation.lines?.({ ...call, onProgress }, checked(operation, input), write);
    },
  };
}

function servicesOf(workspace: OpenWorkspace, settings: Settings): AdminServices {
  const { storage, people, organizations, keys, webhooks, ingestTokens, scimTokens, vault, now, config } = workspace;
  const { collector } = config.ingest;
  const { plugin } = config.issuer;
  return {
    storage,
    people,
    organizations,
    keys,
    scimTokens,
    webhooks,
    vault,
    now,
    ingestTokens: collector === undefined ? ingestTokens : undefined,
    ingest: {
      /** The collector's by the config's template, else ours; the token is made where there is none yet. */
      async config(id) {
        if (collector !== undefined) return collectorSource(collector, storage.directory).config(id);
        await ingestTokens.ensure(id);
        return ingestSource(ingestTokens, await publicUrl(workspace), config.ingest.grpc).config(id);
      },
    },
    publicUrl: () => publicUrl(workspace),
    scimRules: provisioningRules(() => config),
    telemetryElsewhere: telemetryElsewhere(config),
    alertSources: () => workspace.alertSources(),
    pagesUrl: () => pagesUrl(workspace, settings),
    signInElsewhere: plugin === 'builtin' ? undefined : plugin,
  };
}

/** As configured, else where the gateway runs or will run. */
async function publicUrl(workspace: OpenWorkspace): Promise<string> {
  const { publicUrl: configured, listen } = workspace.config;
  const running = configured === undefined ? await workspace.runningGateway() : undefined;
  return running?.url ?? workspace.host(listen.port, 'cli').publicUrl;
}

/** Where the pages stand: as configured, else where the gateway runs or will run. */
async function pagesUrl(workspace: OpenWorkspace, settings: Settings): Promise<string> {
  const { config } = workspace;
  const configured = config.authUrl ?? config.publicUrl;
  if (configured !== undefined) return configured;
  const running = await workspace.runningGateway();
  if (running !== undefined) return running.url;
  // Port 0 means any free port, unknown until the server listens.
  return config.listen.port === 0
    ? requireGateway(workspace, settings)
    : deriveUrls(config, config.listen.port).authUrl;
}
