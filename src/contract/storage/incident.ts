import { SightlineError } from '../core/errors.ts';
import { foldCase, type IncidentId, type InvestigationId, type OrganizationId } from '../core/ids.ts';
import type { MemberRepository } from './access.ts';
import type { Finding } from './investigation.ts';
import type { Actor, Page } from './record.ts';

export const incidentStatuses = [
  'triage',
  'investigating',
  'identified',
  'mitigated',
  'resolved',
  'dismissed',
] as const;
export type IncidentStatus = (typeof incidentStatuses)[number];
/** `open` stands for the first four. */
export type IncidentStatusFilter = IncidentStatus | 'open';
export const openStatuses = [
  'triage',
  'investigating',
  'identified',
  'mitigated',
] as const satisfies readonly IncidentStatus[];

export const severities = ['critical', 'high', 'medium', 'low', 'unknown'] as const;
export type Severity = (typeof severities)[number];

export const waitingParties = ['agent', 'human', 'external', 'none'] as const;
export type WaitingParty = (typeof waitingParties)[number];

export const resolutions = [
  'fixed',
  'self_recovered',
  'false_positive',
  'duplicate',
  'accepted_risk',
  'other',
] as const;

/** How an incident ended. */
export interface Resolution {
  readonly kind: (typeof resolutions)[number];
  /** The key of the incident that a duplicate repeats. */
  readonly duplicateOf?: string;
}

const transitions = {
  triage: ['investigating', 'identified', 'mitigated', 'resolved', 'dismissed'],
  investigating: ['triage', 'identified', 'mitigated', 'resolved', 'dismissed'],
  identified: ['investigating', 'mitigated', 'resolved', 'dismissed'],
  mitigated: ['investigating', 'identified', 'resolved'],
  resolved: ['investigating'],
  dismissed: ['triage', 'investigating'],
} as const satisfies Record<IncidentStatus, readonly IncidentStatus[]>;

/** Statuses an incident may go to from this one. */
export function nextStatuses(from: IncidentStatus): readonly IncidentStatus[] {
  return transitions[from];
}

export interface WaitingOn {
  readonly party: WaitingParty;
  /** A member's e-mail address or a vendor's name. */
  readonly name?: string;
  readonly reason?: string;
  readonly since: Date;
}

export const alertStatuses = ['firing', 'acknowledged', 'resolved'] as const;

export interface Alert {
  readonly fingerprint: string;
  readonly title: string;
  readonly description?: string;
  readonly status: (typeof alertStatuses)[number];
  readonly severity: Severity;
  readonly startsAt: Date;
  readonly endsAt?: Date;
  readonly labels: Readonly<Record<string, string>>;
  readonly url?: string;
}

export interface Incident {
  readonly id: IncidentId;
  readonly organizationId: OrganizationId;
  /** 1, 2, 3 … within the organization. */
  readonly number: number;
  /** `INC-12`. */
  readonly key: string;
  readonly title: string;
  readonly summary: string;
  readonly status: IncidentStatus;
  readonly severity: Severity;
  readonly waitingOn: WaitingOn;
  readonly services: readonly string[];
  readonly environment: string;
  readonly source: string;
  readonly fingerprint?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly assignee?: string;
  /** Of one that is resolved or dismissed, where somebody said how. */
  readonly resolution?: Resolution;
  /** Where its cause was found. */
  readonly finding?: Finding;
  readonly alerts: readonly Alert[];
  readonly startedAt: Date;
  readonly detectedAt: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly mitigatedAt?: Date;
  readonly resolvedAt?: Date;
}

export interface NewIncident {
  /** Blank is `invalid_argument`, in a patch too. */
  readonly title: string;
  readonly summary?: string;
  readonly status?: IncidentStatus;
  readonly severity: Severity;
  readonly waitingOn?: Omit<WaitingOn, 'since'>;
  readonly services?: readonly string[];
  readonly environment?: string;
  readonly source: string;
  /** An open incident with the same one is returned instead of a second being made. */
  readonly fingerprint?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly assignee?: string;
  readonly alerts?: readonly Alert[];
  readonly startedAt: Date;
  readonly detectedAt?: Date;
  /** Markdown; becomes version 1 of the document. */
  readonly document?: string;
}

export interface IncidentPatch {
  readonly title?: string;
  readonly summary?: string;
  readonly status?: IncidentStatus;
  readonly severity?: Severity;
  readonly waitingOn?: Omit<WaitingOn, 'since'>;
  readonly services?: readonly string[];
  /** Null for nobody. */
  readonly assignee?: string | null;
  /** Of one that is resolved or dismissed, or becomes so with this patch; else `conflict`. */
  readonly resolution?: Resolution;
  readonly finding?: Finding;
  readonly alerts?: readonly Alert[];
}

/** Throws `invalid_argument` for an assignee, or the address of a person waited on, that is no member's. */
export async function requireMembers(
  members: Pick<MemberRepository, 'list'>,
  { assignee, waitingOn }: Pick<IncidentPatch, 'assignee' | 'waitingOn'>,
): Promise<void> {
  const { party, name = '' } = waitingOn ?? {};
  const named = [assignee ?? '', party === 'human' && name.includes('@') ? name : ''].filter((each) => each !== '');
  if (named.length === 0) return;
  const known = new Set((await members.list()).map(({ user }) => foldCase(user.email)));
  const stranger = named.find((each) => !known.has(foldCase(each.trim())));
  if (stranger === undefined) return;
  throw new SightlineError('invalid_argument', `No member has the address ${JSON.stringify(stranger.slice(0, 100))}.`, {
    hint: 'Name a member by their e-mail address, and others as external.',
  });
}

/** Bounds of what is stored of one incident, however often it is changed. */
export const incidentRules = {
  /** Drops the oldest, of alerts and agents first; never the opening entry or the last change of status. */
  timelineEntries: 1_000,
  /** The first and the newest. */
  documentVersions: 100,
} as const;

export interface IncidentFilter {
  readonly statuses?: readonly IncidentStatusFilter[] | undefined;
  readonly severities?: readonly Severity[] | undefined;
  /** Parties, or e-mail addresses matched with the name waited on. */
  readonly waitingOn?: readonly string[] | undefined;
  /** Affected, or found to blame. */
  readonly service?: string | undefined;
  /** The service that was found to blame. */
  readonly blamed?: string | undefined;
  /** Words looked for in title, summary and what was found, without case. */
  readonly query?: string | undefined;
  /** Of the start time. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly limit: number;
  /** From the page before; another filter's cursor is `invalid_argument`. */
  readonly cursor?: string | undefined;
}

export interface IncidentDocument {
  readonly markdown: string;
  readonly version: number;
  readonly author: Actor;
  readonly updatedAt: Date;
}

export type DocumentVersion = Omit<IncidentDocument, 'markdown'>;

/** What has to be so at the moment in which a document is written. */
export interface DocumentCondition {
  /** The newest version's number; 0 where there is no document. */
  readonly after: number;
  /** An investigation, and who has to hold it. */
  readonly held: { readonly id: InvestigationId; readonly holder: string };
}

export interface TimelineEntry {
  readonly at: Date;
  readonly actor: Actor;
  readonly change: string;
  readonly from?: string;
  readonly to?: string;
}

export interface IncidentRepository {
  create(input: NewIncident, actor: Actor): Promise<Incident>;
  /** By id or key (`INC-12`, any case). */
  get(idOrKey: string): Promise<Incident | undefined>;
  /** Newest start first. */
  list(filter: IncidentFilter): Promise<Page<Incident>>;
  /** Checks the status transition (`conflict` with the allowed ones), sets its times, writes the timeline. */
  update(id: IncidentId, patch: IncidentPatch, actor: Actor): Promise<Incident>;
  /** The newest version, or the one of this number. */
  document(id: IncidentId, version?: number): Promise<IncidentDocument | undefined>;
  /** Newest first. */
  documentVersions(id: IncidentId): Promise<readonly DocumentVersion[]>;
  /** `conflict`, and nothing is written, where the condition is not met. */
  writeDocument(id: IncidentId, markdown: string, author: Actor, only?: DocumentCondition): Promise<IncidentDocument>;
  timeline(id: IncidentId): Promise<readonly TimelineEntry[]>;
}

/** A part of an incident's document. */
export interface Section {
  readonly title: string;
  /** Without blank lines around it. */
  readonly body: string;
}

/** Markdown cut at its headings of the second level, save those in fenced code. */
export function parseSections(markdown: string): { readonly preamble: string; readonly sections: readonly Section[] } {
  const parts: { readonly title: string; readonly lines: string[] }[] = [{ title: '', lines: [] }];
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    const ticks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (ticks !== undefined && (fence === undefined || ticks.startsWith(fence))) {
      fence = fence === undefined ? ticks : undefined;
    }
    const title = fence === undefined ? /^## +(.*\S)/.exec(line)?.[1] : undefined;
    if (title === undefined) parts.at(-1)?.lines.push(line);
    else parts.push({ title, lines: [] });
  }
  const [preamble, ...sections] = parts.map(({ title, lines }) => ({ title, body: lines.join('\n').trim() }));
  return { preamble: preamble?.body ?? '', sections };
}
