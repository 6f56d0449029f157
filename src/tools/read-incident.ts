import { z } from 'zod';
import { defineTool, type Tool } from '../contract/core/index.ts';
import {
  openStatuses,
  type Incident,
  type IncidentAlerts,
  type IncidentDocument,
  type Storage,
  type Workspace,
} from '../contract/storage/index.ts';
import { asArray, oneOrMany, shortText, cutText, toolResult } from './result.ts';
import {
  investigationMembers,
  viewInvestigation,
  type InvestigationView,
  type StepView,
} from './investigation-view.ts';
import { findIncident } from './references.ts';
import { createFence, type Fence } from './untrusted.ts';
import { incidentRow, members, untrustedPaths } from './views.ts';

/** Rows of a step that the text form shows; the structured form has them all. */
const rowsInText = 5;

export const incidentParts = ['document', 'investigation', 'alerts', 'chats'] as const;

const input = z.strictObject({
  incident_id: shortText(500).describe('Id, key (INC-12) or URL'),
  include: oneOrMany(incidentParts).optional().describe('All by default'),
});

const output = z.object({
  incident: members(
    'a list_incidents row with summary, environment, source, assignee?, labels, detected_at, created_at, mitigated_at?',
  ),
  document: members('markdown, version, author, updated_at').optional(),
  investigation: investigationMembers.optional(),
  alerts: z.array(members('title, description?, status, severity, starts_at, ends_at?, labels, url?')).optional(),
  chats: z.array(members('id, title, status, created_by, updated_at')).optional(),
  notes: z.array(z.string()).describe('What was cut or is missing'),
  untrusted: untrustedPaths,
});

/** What one call answers with at most, in UTF-16 units, shared by document and steps when both are asked for. */
const resultBudget = 48_000;

const listLimit = 20;

export function createReadIncident(deps: { readonly storage: Storage; readonly publicUrl: string }): Tool {
  return defineTool({
    name: 'read_incident',
    title: 'Read an incident',
    description:
      'One incident: its document (Markdown), the investigation behind it with evidence steps and claims, alerts and ' +
      'chats. A step\'s sql can be run again in query_otel. Example: {"incident_id":"INC-12","include":["document"]}.',
    scope: 'incidents:read',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input,
    aliases: {
      id: 'incident_id',
      key: 'incident_id',
      url: 'incident_id',
      incident: 'incident_id',
      sections: 'include',
    },
    output,
    async run(args, { principal }) {
      const workspace = deps.storage.workspace(principal.organizationId);
      const incident = await findIncident(workspace, args.incident_id, deps.publicUrl);
      const structured = await gather(workspace, incident, new Set(asArray(args.include) ?? incidentParts));
      return toolResult(structured, describeIncident(structured), {
        rows: structured.investigation?.steps.length ?? 0,
        truncated: structured.notes.length > 0,
      });
    },
  });
}

async function gather(workspace: Workspace, incident: Incident, include: ReadonlySet<(typeof incidentParts)[number]>) {
  const notes: string[] = [];
  const both = include.has('document') && include.has('investigation');
  const budget = both ? resultBudget / 2 : resultBudget;
  return {
    incident: incidentView(incident),
    document: include.has('document')
      ? documentView(await workspace.incidents.document(incident.id), budget, both, notes)
      : undefined,
    investigation: include.has('investigation') ? await investigationOf(workspace, incident, budget, notes) : undefined,
    alerts: include.has('alerts') ? alertViews(await workspace.alerts.ofIncident(incident.id), notes) : undefined,
    chats: include.has('chats') ? await chatViews(workspace, incident, notes) : undefined,
    notes,
    untrusted: [
      'incident.title',
      'incident.summary',
      'incident.services',
      'incident.waiting_on',
      'incident.environment',
      'incident.source',
      'incident.assignee',
      'incident.labels',
      'document',
      'investigation',
      'alerts',
      'chats',
    ],
  };
}

function incidentView(incident: Incident) {
  return {
    ...incidentRow(incident),
    summary: cutText(incident.summary, 4_000).text,
    environment: incident.environment,
    source: incident.source,
    assignee: incident.assignee,
    labels: shortLabels(incident.labels),
    detected_at: incident.detectedAt.toISOString(),
    created_at: incident.createdAt.toISOString(),
    mitigated_at: incident.mitigatedAt?.toISOString(),
  };
}

function documentView(document: IncidentDocument | undefined, budget: number, shared: boolean, notes: string[]) {
  if (document === undefined) {
    notes.push('The incident has no document yet.');
    return undefined;
  }
  const { text, cut } = cutText(document.markdown, budget);
  if (cut) {
    const more = shared ? ' Ask for include ["document"] alone for more.' : '';
    notes.push(`The document is cut at ${text.length} of ${document.markdown.length} characters.${more}`);
  }
  return {
    markdown: text,
    version: document.version,
    author: document.author.name,
    updated_at: document.updatedAt.toISOString(),
  };
}

async function investigationOf(workspace: Workspace, incident: Incident, budget: number, notes: string[]) {
  const investigations = await workspace.investigations.ofIncident(incident.id);
  const view = await viewInvestigation(workspace, investigations, budget, notes);
  if (view === undefined) {
    const open = openStatuses.some((status) => status === incident.status);
    notes.push(`Nothing has been investigated yet.${open ? ' Call start_chat with this incident_id.' : ''}`);
  }
  return view;
}

function alertViews({ listed, total, active }: IncidentAlerts, notes: string[]) {
  if (total > listLimit) notes.push(`${listLimit} of ${total} alerts are shown; ${active} are not resolved.`);
  return listed.slice(0, listLimit).map((alert) => ({
    title: cutText(alert.title, 500).text,
    description: alert.description && cutText(alert.description, 500).text,
    status: alert.status,
    severity: alert.severity,
    starts_at: alert.startsAt.toISOString(),
    ends_at: alert.endsAt?.toISOString(),
    fingerprint: alert.fingerprint,
    labels: shortLabels(alert.labels),
    url: alert.url,
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
  const entries = Object.entries(labels).slice(0, 40);
  return Object.fromEntries(entries.map(([name, value]) => [cutText(name, 100).text, cutText(value, 300).text]));
}

/** The text form of `read_incident`: everything that telemetry, alerts or people wrote stands inside the fence. */
function describeIncident(result: Awaited<ReturnType<typeof gather>>): readonly string[] {
  const fence = createFence();
  const { incident, document, investigation, alerts, chats, notes } = result;
  const lines = [
    `${incident.key} | ${incident.severity} | ${incident.status} | waits on ${incident.waiting_on.party} | started ${incident.started_at} | ${incident.id}`,
    fence.notice,
    `Title: ${fence.inline(incident.title)}`,
  ];
  if (incident.services.length > 0) lines.push(`Services: ${fence.inline(incident.services.join(', '))}`);
  if (incident.waiting_on.reason !== undefined)
    lines.push(`Waits because: ${fence.inline(incident.waiting_on.reason)}`);
  if (incident.resolution !== undefined) {
    const original = incident.duplicate_of === undefined ? '' : ` of ${incident.duplicate_of}`;
    lines.push(`Resolution: ${incident.resolution}${original}`);
  }
  if (incident.summary !== '') lines.push(`Summary: ${fence.inline(incident.summary)}`);
  if (document) lines.push('', `Document, version ${document.version}:`, fence.block(document.markdown));
  if (investigation) lines.push('', ...investigationLines(investigation, fence));
  if (alerts && alerts.length > 0)
    lines.push('', 'Alerts:', ...alerts.map((alert) => fence.inline(JSON.stringify(alert))));
  if (chats && chats.length > 0) lines.push('', 'Chats:', ...chats.map((chat) => fence.inline(JSON.stringify(chat))));
  if (notes.length > 0) lines.push('', ...notes.map((note) => `Note: ${note}`));
  return lines;
}

function investigationLines(investigation: InvestigationView, fence: Fence): readonly string[] {
  const { conclusion, claims, steps } = investigation;
  const lines = [`Investigation ${investigation.id}: ${investigation.status}, by ${investigation.engine}`];
  if (investigation.failure !== undefined) lines.push(`Failed: ${fence.inline(investigation.failure)}`);
  if (investigation.question !== undefined) {
    lines.push(`It asks: ${fence.inline(investigation.question)} (answer with start_chat and this incident_id)`);
  }
  if (conclusion) {
    lines.push(
      `Root cause (${conclusion.confidence} confidence, ${fence.inline(`${conclusion.category} in ${conclusion.service || '-'}`)}): ${fence.inline(conclusion.root_cause)}`,
    );
  }
  for (const claim of claims) {
    lines.push(`- ${claim.status} [${claim.evidence_ids.join(' ')}] ${fence.inline(claim.text)}`);
  }
  for (const step of steps) lines.push(...stepLines(step, fence));
  return lines;
}

function stepLines(step: StepView, fence: Fence): readonly string[] {
  const rows = step.rows.slice(0, rowsInText).map((row) => JSON.stringify(row));
  const body = [step.question, step.observation, step.sql, JSON.stringify(step.columns), ...rows];
  if (step.error !== undefined) body.push(`error: ${step.error}`);
  return [`${step.evidence_id} (${step.verdict}, ${step.row_count} rows):`, fence.block(body.join('\n'))];
}
