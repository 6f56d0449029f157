import { isDeepStrictEqual } from 'node:util';
import { SightlineError } from '../../../src/contract/core/index.ts';
import {
  nextStatuses,
  type Finding,
  type Incident,
  type IncidentPatch,
  type IncidentStatus,
  type Resolution,
  type WaitingOn,
} from '../../../src/contract/storage/index.ts';
import { sameAlerts } from './incident-rows.ts';

/** One line of the timeline, before who and when. */
export interface Change {
  readonly change: string;
  readonly from?: string;
  readonly to?: string;
}

/** The incident after the patch and what the timeline says about it. Throws `conflict` for what the states do not allow. */
export function applyPatch(
  incident: Incident,
  patch: IncidentPatch,
  now: Date,
): { readonly incident: Incident; readonly changes: readonly Change[] } {
  const changes: Change[] = [];
  let next = incident;

  if (patch.status !== undefined && patch.status !== incident.status) {
    changes.push({ change: 'status', from: incident.status, to: patch.status });
    next = enter(next, patch.status, now);
  }
  const waitingOn = waiting(next, patch.waitingOn, now);
  if (!sameWaiting(waitingOn, incident.waitingOn)) {
    changes.push({ change: 'waiting_on', from: describe(incident.waitingOn), to: describe(waitingOn) });
    next = { ...next, waitingOn };
  }
  const resolution = resolved(next, patch.resolution);
  if (!sameResolution(resolution, incident.resolution)) {
    changes.push({ change: 'resolution', ...fromTo(said(incident.resolution), said(resolution)) });
    const { resolution: _, ...rest } = next;
    next = { ...rest, ...(resolution && { resolution }) };
  }
  if (patch.title !== undefined && titled(patch.title) !== incident.title) {
    changes.push({ change: 'title', from: incident.title, to: patch.title });
    next = { ...next, title: patch.title };
  }
  if (patch.summary !== undefined && patch.summary !== incident.summary) {
    changes.push({ change: 'summary' });
    next = { ...next, summary: patch.summary };
  }
  if (patch.severity !== undefined && patch.severity !== incident.severity) {
    changes.push({ change: 'severity', from: incident.severity, to: patch.severity });
    next = { ...next, severity: patch.severity };
  }
  if (patch.services !== undefined && JSON.stringify(patch.services) !== JSON.stringify(incident.services)) {
    changes.push({ change: 'services', from: incident.services.join(', '), to: patch.services.join(', ') });
    next = { ...next, services: patch.services };
  }
  const assignee = patch.assignee === null ? undefined : (patch.assignee ?? incident.assignee);
  if (assignee !== incident.assignee) {
    changes.push({ change: 'assignee', ...fromTo(incident.assignee, assignee) });
    const { assignee: _, ...rest } = next;
    next = { ...rest, ...(assignee !== undefined && { assignee }) };
  }
  if (patch.alerts !== undefined && !sameAlerts(patch.alerts, incident.alerts)) {
    changes.push({ change: 'alerts', from: String(incident.alerts.length), to: String(patch.alerts.length) });
    next = { ...next, alerts: patch.alerts };
  }
  if (patch.finding !== undefined && !isDeepStrictEqual(patch.finding, incident.finding)) {
    changes.push({ change: 'finding', ...fromTo(blame(incident.finding), blame(patch.finding)) });
    next = { ...next, finding: patch.finding };
  }
  return { incident: changes.length === 0 ? incident : { ...next, updatedAt: now }, changes };
}

/** The title; `invalid_argument` for a blank one. */
export function titled(title: string): string {
  if (title.trim() !== '') return title;
  throw new SightlineError('invalid_argument', 'The title of an incident is blank.', {
    hint: 'Say in a few words what is wrong.',
  });
}

/** The status with the times that belong to it: leaving `mitigated` or `resolved` for an earlier one takes them back. */
function enter(incident: Incident, status: IncidentStatus, now: Date): Incident {
  const allowed = nextStatuses(incident.status);
  if (!allowed.includes(status)) {
    throw new SightlineError('conflict', `${incident.key} is ${incident.status} and cannot become ${status}.`, {
      hint: `From ${incident.status} it may become ${allowed.join(', ')}.`,
    });
  }
  const { mitigatedAt, resolvedAt: _, ...rest } = incident;
  switch (status) {
    case 'mitigated':
      return { ...rest, status, mitigatedAt: now };
    case 'resolved':
      return { ...rest, status, ...(mitigatedAt === undefined ? {} : { mitigatedAt }), resolvedAt: now };
    default:
      return { ...rest, status };
  }
}

/** A closed incident waits on nobody. */
export function waiting(
  incident: Pick<Incident, 'key' | 'status' | 'waitingOn'>,
  wanted: Omit<WaitingOn, 'since'> | undefined,
  now: Date,
): WaitingOn {
  const current = incident.waitingOn;
  if (incident.status === 'resolved' || incident.status === 'dismissed') {
    if (wanted !== undefined && wanted.party !== 'none') {
      throw new SightlineError('conflict', `${incident.key} is ${incident.status} and waits on nobody.`, {
        hint: 'Reopen the incident first.',
      });
    }
    return current.party === 'none' ? current : { party: 'none', since: now };
  }
  if (wanted === undefined) return current;
  const same = wanted.party === current.party && wanted.name === current.name;
  return { ...wanted, since: same ? current.since : now };
}

/** What stands behind the end of a closed incident; an open one has none. */
function resolved(incident: Incident, wanted: Resolution | undefined): Resolution | undefined {
  if (incident.status !== 'resolved' && incident.status !== 'dismissed') {
    if (wanted === undefined) return undefined;
    throw new SightlineError('conflict', `${incident.key} is ${incident.status} and has no resolution yet.`, {
      hint: 'Resolve or dismiss it together with its resolution.',
    });
  }
  if (wanted === undefined) return incident.resolution;
  if ((wanted.kind === 'duplicate') !== (wanted.duplicateOf !== undefined)) {
    throw new SightlineError('invalid_argument', 'A duplicate, and nothing else, names the incident that it repeats.');
  }
  return wanted;
}

function blame(finding: Finding | undefined): string | undefined {
  return finding && `${finding.service === '' ? finding.category : finding.service} (${finding.confidence} confidence)`;
}

function sameResolution(one: Resolution | undefined, other: Resolution | undefined): boolean {
  return one?.kind === other?.kind && one?.duplicateOf === other?.duplicateOf;
}

function said(resolution: Resolution | undefined): string | undefined {
  if (resolution?.duplicateOf === undefined) return resolution?.kind;
  return `${resolution.kind} of ${resolution.duplicateOf}`;
}

function fromTo(from: string | undefined, to: string | undefined): Pick<Change, 'from' | 'to'> {
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

function sameWaiting(one: WaitingOn, other: WaitingOn): boolean {
  return one.party === other.party && one.name === other.name && one.reason === other.reason;
}

function describe({ party, name, reason }: WaitingOn): string {
  const who = name === undefined ? party : `${party}: ${name}`;
  return reason === undefined ? who : `${who} (${reason})`;
}
