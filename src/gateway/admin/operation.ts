import { z } from 'zod';
import { SightlineError, issueText, issueWords, type Vault } from '../../contract/core/index.ts';
import type { Actor, AdminScope, Organization, Storage } from '../../contract/storage/index.ts';
import type { People } from '../../identity/people/people.ts';
import type { Organizations } from '../../identity/people/organizations.ts';
import type { ApiKeys } from '../../identity/verify/api-keys.ts';
import type { IngestTokens } from '../../identity/verify/ingest-tokens.ts';
import type { RulesOf } from '../../identity/scim/provisioning.ts';
import type { ScimTokens } from '../../identity/verify/scim-tokens.ts';
import type { AlertSources } from '../../incidents/alerts/sources.ts';
import type { Webhooks } from '../../incidents/webhooks/webhooks.ts';
import type { IngestSource } from '../../tools/index.ts';

/** What operations work on, in a gateway and on the command line. */
export interface AdminServices {
  readonly storage: Storage;
  readonly people: People;
  readonly organizations: Organizations;
  readonly keys: ApiKeys;
  readonly ingest: IngestSource;
  /** Undefined where a company's collector feeds the warehouse. */
  readonly ingestTokens: IngestTokens | undefined;
  readonly scimTokens: ScimTokens;
  readonly scimRules: RulesOf;
  readonly webhooks: Webhooks;
  /** Plugins are loaded for it, which few operations need. */
  alertSources(): Promise<AlertSources>;
  publicUrl(): Promise<string>;
  /** {auth_url}, under which the pages are. */
  pagesUrl(): Promise<string>;
  /** The issuer plugin, where people sign in elsewhere, without a password here. */
  readonly signInElsewhere: string | undefined;
  /** What becomes of a deleted organization's telemetry, where the warehouse is not ours. */
  readonly telemetryElsewhere: string | undefined;
  readonly vault: Vault;
  readonly now: () => Date;
}

export interface AdminCall {
  readonly services: AdminServices;
  readonly actor: Actor;
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

export interface OrganizationCall extends AdminCall {
  readonly organization: Organization;
}

interface Described<Input extends z.ZodObject, Output extends z.ZodObject> {
  readonly method: 'get' | 'post' | 'delete';
  /** Under /admin/v1, or under one of its organizations. Names in braces are of the input. */
  readonly path: string;
  readonly summary: string;
  readonly scope: AdminScope;
  /** Only with a key for all organizations, since it reaches beyond the one that it names. */
  readonly instanceOnly?: boolean;
  /** Of its body; without it 64 KiB. */
  readonly mostBodyBytes?: number;
  readonly input: Input;
  readonly output: Output;
}

/** One thing that the admin interface and the command line do: its route, its document and its command are made of this. */
export interface Operation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject = z.ZodObject,
> extends Described<Input, Output> {
  readonly of: 'instance' | 'organization';
  /** In place of `run`: answers lines of JSON, as many as there are. Refuses before the first. */
  lines?(
    call: AdminCall & Partial<OrganizationCall>,
    input: z.output<Input>,
    write: (text: string) => Promise<void>,
  ): Promise<void>;
  run(call: AdminCall & Partial<OrganizationCall>, input: z.output<Input>): Promise<z.input<Output>>;
}

export function ofInstance<Input extends z.ZodObject, Output extends z.ZodObject>(
  operation: Described<Input, Output> & {
    run(call: AdminCall & Partial<OrganizationCall>, input: z.output<Input>): Promise<z.input<Output>>;
  },
): Operation<Input, Output> {
  return { ...operation, of: 'instance' };
}

export function ofOrganization<Input extends z.ZodObject, Output extends z.ZodObject>(
  operation: Described<Input, Output> & {
    run(call: OrganizationCall, input: z.output<Input>): Promise<z.input<Output>>;
  },
): Operation<Input, Output> {
  return {
    ...operation,
    of: 'organization',
    run({ organization, ...call }, input) {
      if (organization === undefined) throw new Error(`${operation.path} needs an organization`);
      return operation.run({ ...call, organization }, input);
    },
  };
}

/** Answered in lines; of the instance, unless it says otherwise. */
export function inLines<Input extends z.ZodObject>(
  operation: Omit<Described<Input, z.ZodObject>, 'output'> &
    Required<Pick<Operation<Input>, 'lines'>> &
    Partial<Pick<Operation, 'of'>>,
): Operation<Input> {
  const run = () => Promise.reject(new Error(`${operation.path} answers lines`));
  return { of: 'instance', ...operation, output: z.object({}), run };
}

export const none = z.strictObject({});
export const time = z.iso.datetime();
export const done = z.object({ done: z.literal(true) });
export const isDone = { done: true } as const;
/** What the interface answers in place of an output. */
export const failureShape = z.object({
  error: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }),
});

/** Throws `invalid_argument` with the place of the first mistake. */
export function checked<Input extends z.ZodObject>({ input }: Operation<Input>, values: unknown): z.output<Input> {
  const parsed = input.safeParse(values, issueWords);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new SightlineError('invalid_argument', `The input is not valid: ${issue && issueText(issue)}.`);
}
