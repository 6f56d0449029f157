import { z } from 'zod';
import { defineTool, type Tool } from '../contract/core/index.ts';
import {
  openStatuses,
  type Incident,
  type IncidentAlerts,
  type Storage,
  type Workspace,
} from '../contract/storage/index.ts';
import { chosen, some, shortText, cutText, toolResult } from './result.ts';
import {
  investigationMembers,
  viewInvestigation,
  type Evidence,
  type InvestigationView,
  type StepView,
} from './investigation-view.ts';
import { documentView } from './incident-document.ts';
import { findIncident } from './references.ts';
import { createFence, type Fence } from './untrusted.ts';
import { incidentRow, members, untrustedPaths } from './views.ts';

const usualParts = ['document', 'investigation', 'alerts', 'chats'] as const;
export const incidentParts = ['document', 'investigation', 'evidence', 'alerts', 'chats'] as const;

const input = z.strictObject({
  incident_id: shortText(500).describe('Id, key (INC-12) or URL'),
  include: some(incidentParts).optional().describe('By default all but evidence'),
  evidence_id: shortText(64).optional().describe('One step with its SQL and rows, such as E3'),
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

/** What one call answers with at most, in UTF-16 units: about 4,000 tokens, and what clients show whole where the caller wants more. */
const usualBudget = 13_000;
const askedBudget = 36_000;

const listLimit = 20;
const alertsRoom = 3_000;
const labelsRoom = 1_000;

export function createReadIncident(deps: { readonly storage: Storage; readonly publicUrl: string }): Tool {
  return defineTool({
    name: 'read_incident',
    title: 'Read an incident',
    description:
      'One incident: its document (Markdown), the investigation behind it with claims and evidence steps, alerts and ' +
      "chats. With evidence_id a step's SQL and rows; the SQL runs in query_otel. " +
      'Example: {"incident_id":"INC-12","include":["document"]}.',
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
      const structured = await gather(workspace, incident, partsOf(args));
      return toolResult(structured, describeIncident(structured), {
        rows: structured.investigation?.steps.length ?? 0,
        truncated: structured.notes.length > 0,
      });
    },
  });
}

interface Wanted {
  readonly parts: ReadonlySet<(typeof incidentParts)[number]>;
  readonly evidence: Evidence;
  readonly budget: number;
}

function partsOf({ include, evidence_id: id }: z.output<typeof input>): Wanted {
  const parts = chosen(include) ?? (id === undefined ? usualParts : ['investigation']);
  const evidence = id === undefined ? (parts.includes('evidence') ? 'all' : 'none') : { id };
  const asked = include !== undefined || id !== undefined;
  return { parts: new Set(parts), evidence, budget: asked ? askedBudget : usualBudget };
}

async function gather(workspace: Workspace, incident: Incident, { parts: include, evidence, budget }: Wanted) {
  const notes: string[] = [];
  const investigates = include.has('investigation') || evidence !== 'none';
  const view = incidentView(incident);
  const document = include.has('document')
    ? documentView(await workspace.incidents.document(incident.id), notes)
    : undefined;
  const alerts = include.has('alerts') ? alertViews(await workspace.alerts.ofIncident(incident.id), notes) : undefined;
  const chats = include.has('chats') ? await chatViews(workspace, incident, notes) : undefined;
  const taken = JSON.stringify({ view, document, alerts, chats }).length;
  return {
    incident: view,
    document,
    investigation: investigates
      ? await investigationOf(workspace, incident, { evidence, budget: budget - taken, notes })
      : undefined,
    alerts,
    chats,
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

function alertViews({ listed, total, active }: IncidentAlerts, notes: string[]) {
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
  const shown = fitting(views, alertsRoom);
  if (total > shown.length) notes.push(`${shown.length} of ${total} alerts are shown; ${active} are not resolved.`);
  return shown;
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

/** As many from the beginning as have room, in UTF-16 units of JSON; at least one. */
function fitting<Item>(items: readonly Item[], room: number): readonly Item[] {
  let size = 0;
  const end = items.findIndex((item) => (size += JSON.stringify(item).length) > room);
  return end === -1 ? items : items.slice(0, Math.max(1, end));
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
  const { environment, source, assignee, labels, detected_at, created_at, updated_at, mitigated_at, resolved_at } =
    incident;
  const waits = { name: incident.waiting_on.name, since: incident.waiting_on.since };
  const times = { detected_at, created_at, updated_at, mitigated_at, resolved_at };
  lines.push(`Also: ${fence.inline(JSON.stringify({ environment, source, assignee, labels, ...times, waits }))}`);
  if (document) {
    const { version, author, updated_at: changed } = document;
    lines.push(
      '',
      `Document, version ${version}, ${changed}, by ${fence.inline(author)}:`,
      fence.block(document.markdown),
    );
  }
  if (investigation) lines.push('', ...investigationLines(investigation, fence));
  if (alerts && alerts.length > 0)
    lines.push('', 'Alerts:', ...alerts.map((alert) => fence.inline(JSON.stringify(alert))));
  if (chats && chats.length > 0) lines.push('', 'Chats:', ...chats.map((chat) => fence.inline(JSON.stringify(chat))));
  if (notes.length > 0) lines.push('', ...notes.map((note) => `Note: ${note}`));
  return lines;
}

function investigationLines(investigation: InvestigationView, fence: Fence): readonly string[] {
  const { conclusion, claims, steps } = investigation;
  const { asked_at: asked, finished_at: finished = '…' } = investigation;
  const lines = [
    `Investigation ${investigation.id}: ${investigation.status}, by ${investigation.engine}, ${asked} to ${finished}`,
  ];
  if (investigation.failure !== undefined) lines.push(`Failed: ${fence.inline(investigation.failure)}`);
  if (investigation.question !== undefined) {
    lines.push(`It asks: ${fence.inline(investigation.question)} (answer with start_chat and this incident_id)`);
  }
  if (conclusion) {
    lines.push(
      `Root cause (${conclusion.confidence} confidence, ${fence.inline(`${conclusion.category} in ${conclusion.service || '-'}`)}): ${fence.inline(conclusion.root_cause)}`,
    );
    const { suspects, onset, not_checked } = conclusion;
    lines.push(fence.inline(JSON.stringify({ suspects, onset, not_checked })));
  }
  for (const claim of claims) {
    lines.push(`- ${claim.status} [${claim.evidence_ids.join(' ')}] ${fence.inline(claim.text)}`);
  }
  for (const step of steps) lines.push(...stepLines(step, fence));
  return lines;
}

function stepLines(step: StepView, fence: Fence): readonly string[] {
  const rows = (step.rows ?? []).map((row) => JSON.stringify(row));
  const body = [step.question, step.observation];
  if (step.sql !== undefined) {
    const ran = `${step.dialect}, ${step.elapsed_ms} ms, ${step.recorded_at}, window ${JSON.stringify(step.window)}`;
    body.push(step.sql, ran, JSON.stringify(step.columns), ...rows);
  }
  if (step.error !== undefined) body.push(`error: ${step.error}`);
  return [`${step.evidence_id} (${step.verdict}, ${step.row_count} rows):`, fence.block(body.join('\n'))];
}
