import { shortened } from '../contract/core/index.ts';
import {
  howItEnded,
  openStatuses,
  precedents,
  type Incident,
  type IncidentAlerts,
  type Workspace,
  parseSections,
  type IncidentDocument,
  type Section,
} from '../contract/storage/index.ts';
import { viewInvestigation, type Evidence } from './investigation-view.ts';
import { cutText, fitting, sizeOf } from './result.ts';
import { pageOf } from './references.ts';
import { incidentRow } from './views.ts';

export const incidentParts = ['document', 'investigation', 'evidence', 'alerts', 'chats'] as const;
const listLimit = 20;
const labelsRoom = 1_000;

/** What a caller of `read_incident` wants to see, in how many bytes. */
export interface Wanted {
  readonly parts: ReadonlySet<(typeof incidentParts)[number]>;
  readonly evidence: Evidence;
  readonly budget: number;
  readonly pagesUrl: string;
}

/** What the tool answers with. */
export type IncidentView = Awaited<ReturnType<typeof gatherIncident>>;

export async function gatherIncident(
  workspace: Workspace,
  incident: Incident,
  { parts: include, evidence, budget, pagesUrl }: Wanted,
) {
  const notes: string[] = [];
  const investigates = include.has('investigation') || evidence !== 'none';
  const view = incidentView(incident, pagesUrl);
  const document = include.has('document')
    ? documentView(await workspace.incidents.document(incident.id), notes)
    : undefined;
  const alerts = include.has('alerts')
    ? alertViews(await workspace.alerts.ofIncident(incident.id), budget / 4, notes)
    : undefined;
  const before = investigates ? await similarViews(workspace, incident) : [];
  const chats = include.has('chats') ? await chatViews(workspace, incident, notes) : undefined;
  const taken = sizeOf({ view, document, before, alerts, chats });
  const investigation = investigates
    ? await investigationOf(workspace, incident, { evidence, budget: budget - taken, notes })
    : undefined;
  const step = typeof evidence === 'string' ? undefined : investigation?.steps[0];
  return {
    incident: step ? { ...view, url: pageOf.evidence(pagesUrl, incident.key, step.evidence_id) } : view,
    document,
    investigation,
    ...(before.length > 0 && { similar: before }),
    alerts,
    chats,
    notes,
    untrusted: [
      'incident.title',
      'incident.summary',
      'incident.services',
      'incident.cause',
      'incident.waiting_on',
      'incident.environment',
      'incident.source',
      'incident.assignee',
      'incident.labels',
      'document',
      'investigation',
      'similar',
      'alerts',
      'chats',
    ],
  };
}

function incidentView(incident: Incident, pagesUrl: string) {
  return {
    ...incidentRow(incident, pagesUrl),
    summary: cutText(incident.summary, 2_000).text,
    environment: incident.environment,
    source: incident.source,
    assignee: incident.assignee,
    labels: shortLabels(incident.labels),
    detected_at: incident.detectedAt.toISOString(),
    created_at: incident.createdAt.toISOString(),
    mitigated_at: incident.mitigatedAt?.toISOString(),
  };
}

async function investigationOf(
  workspace: Workspace,
  incident: Incident,
  showing: Parameters<typeof viewInvestigation>[2],
) {
  const { notes } = showing;
  const investigations = await workspace.investigations.ofIncident(incident.id);
  const view = await viewInvestigation(workspace, investigations, showing);
  if (view === undefined) {
    const open = openStatuses.some((status) => status === incident.status);
    notes.push(`Nothing has been investigated yet.${open ? ' Call start_chat with this incident_id.' : ''}`);
  }
  return view;
}

function alertViews({ listed, total, active }: IncidentAlerts, room: number, notes: string[]) {
  const views = listed.slice(0, listLimit).map((alert) => ({
    title: cutText(alert.title, 200).text,
    description: alert.description && cutText(alert.description, 300).text,
    status: alert.status,
    severity: alert.severity,
    starts_at: alert.startsAt.toISOString(),
    ends_at: alert.endsAt?.toISOString(),
    fingerprint: alert.fingerprint,
    labels: shortLabels(alert.labels),
    url: alert.url,
  }));
  const shown = fitting(views, room);
  if (total > shown.length) notes.push(`${shown.length} of ${total} alerts are shown; ${active} are not resolved.`);
  return shown;
}

/** Incidents like this one before. */
async function similarViews({ incidents }: Workspace, incident: Incident) {
  const found = await precedents(incidents, incident.finding, incident);
  return found.map((one) => ({
    key: one.key,
    title: cutText(one.title, 100).text,
    cause: shortened(one.finding.root_cause, 200),
    ended: howItEnded(one),
  }));
}

async function chatViews(workspace: Workspace, incident: Incident, notes: string[]) {
  const page = await workspace.chats.list({ incidentId: incident.id, limit: listLimit });
  if (page.nextCursor !== undefined) notes.push('More chats: list_chats with this incident_id.');
  return page.items.map((chat) => ({
    id: chat.id,
    title: chat.title,
    status: chat.status,
    created_by: chat.createdBy.name,
    updated_at: chat.updatedAt.toISOString(),
  }));
}

function shortLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(labels).map(([name, value]): [string, string] => [
    cutText(name, 100).text,
    cutText(value, 300).text,
  ]);
  return Object.fromEntries(fitting(entries, labelsRoom));
}

/** In UTF-16 units, as a model reads it. */
const longestDocument = 6_000;

/** What may be cut, the first first: what happened, what to do and what is open stay. */
const cuttable = ['Evidence', 'Ruled out', 'Timeline', 'Impact'];

/** The document for a model: without the SQL of the steps, which `read_incident` gives by evidence id. */
function documentView(document: IncidentDocument | undefined, notes: string[]) {
  if (document === undefined) {
    notes.push('The incident has no document yet.');
    return undefined;
  }
  const { markdown, version, author, updatedAt } = document;
  const { text, cut } = shorten(withoutSql(markdown));
  if (cut) notes.push(`The document is cut at ${text.length} characters; its page has the whole.`);
  return { markdown: text, version, author: author.name, updated_at: updatedAt.toISOString() };
}

/** Without the code under `**E1** …`, which is a step's; other code somebody wrote for its readers. */
function withoutSql(markdown: string): string {
  const kept: string[] = [];
  let inStep = false;
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    if (fence === undefined) {
      if (/^\*\*E\d+\*\*/.test(line)) inStep = true;
      else if (line.startsWith('#')) inStep = false;
      fence = inStep ? /^(`{3,})sql$/.exec(line)?.[1] : undefined;
      if (fence === undefined) kept.push(line);
    } else if (line.trimEnd() === fence) fence = undefined;
  }
  return kept.join('\n').replaceAll(/\n{3,}/g, '\n\n');
}

function shorten(markdown: string): { readonly text: string; readonly cut: boolean } {
  if (markdown.length <= longestDocument) return { text: markdown, cut: false };
  const { preamble, sections } = parseSections(markdown);
  let shown = sections;
  for (const title of cuttable) {
    const excess = write(preamble, shown).length - longestDocument;
    if (excess <= 0) break;
    shown = shown.map((section) => (section.title === title ? cutSection(section, excess) : section));
  }
  return { text: cutText(write(preamble, shown), longestDocument).text, cut: true };
}

/** Whole lines from the beginning, as many as leave out `excess` characters. */
function cutSection({ title, body }: Section, excess: number): Section {
  const mark = '…';
  const { text } = cutText(body, Math.max(0, body.length - excess - mark.length - 1));
  const end = text.lastIndexOf('\n');
  return { title, body: end <= 0 ? mark : `${text.slice(0, end).trimEnd()}\n${mark}` };
}

function write(preamble: string, sections: readonly Section[]): string {
  const parts = [preamble, ...sections.map(({ title, body }) => `## ${title}\n\n${body}`)];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}
