import type { Command } from 'commander';
import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';
import type { Incident, WaitingOn, Workspace } from '../../contract/storage/index.ts';
import { actInOrganization, toPaste, type Call } from '../command.ts';
import type { Output } from '../output.ts';

/** Adds one command below `sightline incident`. */
export type Add = (group: Command, output: Output) => void;

/** Gives the command an action on the organization's incidents. */
export function actOnIncidents<Shape extends z.ZodType<{ readonly org?: string | undefined }>>(
  command: Command,
  output: Output,
  options: Shape,
  action: (workspace: Workspace, call: Call<z.output<Shape>>) => Promise<void>,
): void {
  actInOrganization(command, output, options, ({ workspace, organization, ...call }) =>
    action(workspace.storage.workspace(organization.id), call),
  );
}

/** By key or id; `not_found` when there is none. */
export async function findIncident({ incidents }: Workspace, name: string, org: string | undefined): Promise<Incident> {
  const found = await incidents.get(name);
  if (found !== undefined) return found;
  throw new SightlineError('not_found', `There is no incident ${JSON.stringify(name.slice(0, 64))}.`, {
    hint: `${toPaste('sightline incident list', org)} names those there are.`,
  });
}

/** An option that is one of these words; `invalid_argument` names them. */
export function word<const Value extends string>(known: readonly Value[], what: string) {
  return z.string().transform((text): Value => {
    const found = known.find((each) => each === text);
    if (found !== undefined) return found;
    throw new SightlineError('invalid_argument', `${JSON.stringify(text.slice(0, 64))} is no ${what}.`, {
      hint: `Known: ${known.join(', ')}`,
    });
  });
}

type Defined<Value> = {
  [Key in keyof Value as undefined extends Value[Key] ? never : Key]: Value[Key];
} & { [Key in keyof Value as undefined extends Value[Key] ? Key : never]?: Exclude<Value[Key], undefined> };

/** The same without its undefined members, which exactOptionalPropertyTypes tells from absent ones. */
export function defined<Value extends object>(value: Value): Defined<Value> {
  const copy = { ...value };
  for (const key in copy) if (copy[key] === undefined) delete copy[key];
  return copy as Defined<Value>; // Every undefined member was just deleted.
}

/** For options that may be given several times. */
export function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

export function incidentJson(incident: Incident) {
  return {
    id: incident.id,
    key: incident.key,
    title: incident.title,
    status: incident.status,
    severity: incident.severity,
    assignee: incident.assignee,
    waiting_on: incident.waitingOn.party,
    started_at: incident.startedAt.toISOString(),
  };
}

export function waitingText({ party, name, reason }: WaitingOn): string {
  return `${party}${name === undefined ? '' : ` (${name})`}${reason === undefined ? '' : `: ${reason}`}`;
}
