import type { Command } from 'commander';
import type { Settings } from '../../gateway/wiring/settings.ts';
import { SightlineError } from '../../contract/core/index.ts';
import type { Incident, WaitingOn, Workspace } from '../../contract/storage/index.ts';
import { findOrganization, withWorkspace } from '../command.ts';
import type { Output } from '../output.ts';

/** Adds one command below `sightline incident`. */
export type Add = (group: Command, output: Output) => void;

export async function inOrganization<Result>(
  settings: Settings,
  org: string | undefined,
  work: (workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  return withWorkspace(settings, async (open) => {
    const { id } = await findOrganization(open, org);
    return work(open.storage.workspace(id));
  });
}

/** By key or id; `not_found` when there is none. */
export async function findIncident({ incidents }: Workspace, name: string): Promise<Incident> {
  const found = await incidents.get(name);
  if (found !== undefined) return found;
  throw new SightlineError('not_found', `There is no incident ${JSON.stringify(name.slice(0, 64))}.`, {
    hint: 'sightline incident list names those there are.',
  });
}

/** One of these words; `invalid_argument` names them. */
export function oneOf<const Value extends string>(text: string, known: readonly Value[], what: string): Value {
  const found = known.find((each) => each === text);
  if (found !== undefined) return found;
  throw new SightlineError('invalid_argument', `${JSON.stringify(text.slice(0, 64))} is no ${what}.`, {
    hint: `Known: ${known.join(', ')}`,
  });
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
    waiting_on: incident.waitingOn.party,
    started_at: incident.startedAt.toISOString(),
  };
}

export function waitingText({ party, name, reason }: WaitingOn): string {
  return `${party}${name === undefined ? '' : ` (${name})`}${reason === undefined ? '' : `: ${reason}`}`;
}
