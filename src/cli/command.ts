import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { resolveSettings, type Settings } from '../gateway/wiring/settings.ts';
import type { OpenWorkspace } from '../gateway/wiring/workspace.ts';
import { SightlineError } from '../contract/core/index.ts';
import { shellWord } from '../contract/core/quote.ts';
import type { Actor, Organization } from '../contract/storage/index.ts';
import { pasteable, startedAs, type Output } from './output.ts';

/** Adds one command, with those below it, to the program. */
export type Register = (program: Command, output: Output, summary: string) => void;

export interface Call<Options> {
  readonly settings: Settings;
  readonly options: Options;
  /** Operands in the order of the usage. */
  readonly operands: readonly string[];
  readonly output: Output;
}

const globals = z.object({ data: z.string().optional(), port: z.number().optional(), config: z.string().optional() });

/** Gives the command its action; `options` says which of commander's untyped values there are. */
export function act<Shape extends z.ZodType>(
  command: Command,
  output: Output,
  options: Shape,
  action: (call: Call<z.output<Shape>>) => Promise<void>,
): void {
  command.action(async () => {
    const values: unknown = command.optsWithGlobals();
    const parsed = options.safeParse(values);
    // Checked here, since commander would report a missing option before the misspelt one that should have been it.
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const name = String(issue?.path[0]);
      return command.error(
        command.getOptionValue(name) === undefined
          ? `required option '--${name}' not specified`
          : `option '--${name}' is not valid: ${issue?.message}`,
      );
    }
    await action({
      settings: resolveSettings(globals.parse(values)),
      options: parsed.data,
      operands: command.args,
      output,
    });
  });
}

/** Opens the workspace, beside a running gateway or without one, and closes it whatever happens. */
export async function withWorkspace<Result>(
  settings: Settings,
  work: (workspace: OpenWorkspace) => Promise<Result>,
): Promise<Result> {
  const { openWorkspace } = await import('../gateway/wiring/workspace.ts');
  const workspace = await openWorkspace(settings);
  try {
    return await work(workspace);
  } finally {
    await workspace.close();
  }
}

/** A command of one organization, which `--org` names. */
export function orgCommand(group: Command, usage: string, description: string): Command {
  return group
    .command(usage)
    .description(description)
    .option(...orgOption);
}

interface WorkspaceCall<Options> extends Call<Options> {
  readonly workspace: OpenWorkspace;
}

/** Gives the command an action in the workspace opened for it. */
export function actInWorkspace<Shape extends z.ZodType>(
  command: Command,
  output: Output,
  options: Shape,
  action: (call: WorkspaceCall<z.output<Shape>>) => Promise<void>,
): void {
  act(command, output, options, (call) => withWorkspace(call.settings, (workspace) => action({ ...call, workspace })));
}

interface OrgCall<Options> extends WorkspaceCall<Options> {
  readonly organization: Organization;
}

/** The same for the organization of its options. */
export function actInOrganization<Shape extends z.ZodType<{ readonly org?: string | undefined }>>(
  command: Command,
  output: Output,
  options: Shape,
  action: (call: OrgCall<z.output<Shape>>) => Promise<void>,
): void {
  actInWorkspace(command, output, options, async (call) =>
    action({ ...call, organization: await findOrganization(call.workspace, call.options.org) }),
  );
}

/** The organization of this name or id; without one, the only one there is. */
export async function findOrganization({ storage }: OpenWorkspace, name: string | undefined): Promise<Organization> {
  const { directory } = storage;
  if (name === undefined) return onlyOf(await directory.organizations());
  return (await directory.findOrganization(name)) ?? noOrganization(name);
}

export function onlyOf<Each extends object>(organizations: readonly Each[]): Each {
  const [first] = organizations;
  if (first !== undefined && organizations.length === 1) return first;
  throw new SightlineError(
    'invalid_argument',
    first === undefined ? 'There is no organization yet.' : `There are ${organizations.length} organizations.`,
    { hint: first === undefined ? 'Make one with: sightline org create NAME' : 'Say which one with --org NAME.' },
  );
}

export function noOrganization(name: string): never {
  throw new SightlineError('not_found', `There is no organization ${JSON.stringify(name.slice(0, 100))}.`, {
    hint: 'sightline org list names those there are; sightline org create makes one.',
  });
}

export async function organizationsOf(
  workspace: OpenWorkspace,
  name: string | undefined,
): Promise<readonly Organization[]> {
  return name === undefined ? workspace.storage.directory.organizations() : [await findOrganization(workspace, name)];
}

/** A command for the terminal, with the organization where this one named it. */
export function toPaste(command: string, org: string | undefined): string {
  return pasteable(org === undefined ? command : `${command} --org ${shellWord(org)}`);
}

export const orgOption = ['--org <name>', 'organization, by name or id (default: the only one)'] as const;
export const orgShape = z.object({ org: z.string().optional() });

/** The value of an option that is a count or a seed. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new SightlineError('invalid_argument', `${JSON.stringify(text.slice(0, 32))} is not a whole number.`);
}

/** Who changes something on the command line: the operating system's user. */
export function operator(): Actor {
  let name = 'operator';
  try {
    name = userInfo().username;
  } catch {
    // A container may run under a user id that has no name.
  }
  return { kind: 'operator', id: name, name };
}

/** Of a new file that could not be opened. */
export function notMade(file: string, cause: unknown): SightlineError {
  return new SightlineError('invalid_argument', `The file ${file} cannot be made.`, {
    hint: 'Name one that does not exist, in a folder that can be written.',
    cause,
  });
}

/** For commands of our own receiver: throws where a company's collector feeds the warehouse. */
export function refuseCollector({ config: { ingest } }: OpenWorkspace): void {
  if (ingest.collector === undefined) return;
  throw new SightlineError(
    'invalid_argument',
    `Telemetry reaches the warehouse through the collector at ${ingest.collector.endpoint}, not through this gateway.`,
    { hint: 'Its tokens are set in the config file: ingest.collector.' },
  );
}

/** How another command is run beside this process: started as it was, and at the same workspace. */
export function invocation(
  { data, port, config }: Settings,
  { script = process.argv[1] ?? '', env = process.env, cwd = process.cwd() } = {},
): string {
  // The next shell may stand elsewhere.
  const given = {
    data: data === undefined ? undefined : resolve(cwd, data),
    port: port === undefined ? undefined : String(port),
    config: typeof config === 'string' ? resolve(cwd, config) : undefined,
  };
  const settings = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, shellWord(value)],
  );
  return [startedAs(script, env, cwd), ...settings].join(' ');
}

/** Base URL of the gateway that runs on this data. `unavailable` when there is none. */
export async function requireGateway(workspace: OpenWorkspace, settings: Settings): Promise<string> {
  const gateway = await workspace.runningGateway();
  if (gateway !== undefined) return gateway.url;
  throw new SightlineError('unavailable', `No gateway is running on ${workspace.dataDirectory}.`, {
    hint: `Start one with: ${invocation(settings)} serve`,
  });
}
