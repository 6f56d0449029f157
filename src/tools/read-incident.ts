import { z } from 'zod';
import { defineTool, type Tool } from '../contract/core/index.ts';
import type { Storage } from '../contract/storage/index.ts';
import { chosen, createFence, type Fence, shortText, some, toolResult } from './result.ts';
import { investigationMembers, type InvestigationView, type StepView } from './investigation-view.ts';
import { gatherIncident, incidentParts, type Wanted, type IncidentView } from './incident-view.ts';
import { findIncident } from './references.ts';
import { members, untrustedPaths } from './views.ts';

const usualParts = ['document', 'investigation', 'alerts', 'chats'] as const;

const input = z.strictObject({
  incident_id: shortText(500).describe('Id, key (INC-12) or URL'),
  include: some(incidentParts).optional().describe('By default all but evidence'),
  evidence_id: shortText(64).optional().describe('Such as E3'),
});

const output = z.object({
  incident: members(
    'a list_incidents row with summary, environment, source, assignee?, labels, detected_at, created_at, mitigated_at?',
  ),
  document: members('markdown, version, author, updated_at').optional(),
  investigation: investigationMembers.optional(),
  similar: z.array(members('key, title, cause, ended')).optional(),
  alerts: z.array(members('title, description?, status, severity, starts_at, ends_at?, labels, url?')).optional(),
  chats: z.array(members('id, title, status, created_by, updated_at')).optional(),
  notes: z.array(z.string()).describe('What was cut or is missing'),
  untrusted: untrustedPaths,
});

/** What one call answers with at most, in bytes: less than 4,000 tokens, and what clients show whole where the caller wants more. */
const usualBudget = 10_500;
const askedBudget = 36_000;

export function createReadIncident(deps: { readonly storage: Storage; readonly pagesUrl: string }): Tool {
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
      const incident = await findIncident(workspace, args.incident_id, deps.pagesUrl);
      const structured = await gatherIncident(workspace, incident, { ...partsOf(args), pagesUrl: deps.pagesUrl });
      return toolResult(structured, describeIncident(structured), {
        rows: structured.investigation?.steps.length ?? 0,
        truncated: structured.notes.length > 0,
      });
    },
  });
}

/** In place of an evidence id, for views of ours: models have no use for it, so that no description names it. */
const pictured = 'pictures';

function partsOf({ include, evidence_id: id }: z.output<typeof input>): Omit<Wanted, 'pagesUrl'> {
  const parts = chosen(include) ?? (id === undefined ? usualParts : ['investigation']);
  const evidence = id === undefined ? (parts.includes('evidence') ? 'all' : 'none') : id === pictured ? id : { id };
  const asked = include !== undefined || id !== undefined;
  return { parts: new Set(parts), evidence, budget: asked ? askedBudget : usualBudget };
}

/** The text form of `read_incident`: everything that telemetry, alerts or people wrote stands inside the fence. */
function describeIncident(result: IncidentView): readonly string[] {
  const fence = createFence();
  const { incident, document, investigation, similar, alerts, chats, notes } = result;
  const lines = [
    `${incident.key} | ${incident.url} | ${incident.severity} | ${incident.status} | waits on ${incident.waiting_on.party} | started ${incident.started_at} | ${incident.id}`,
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
  if (incident.cause !== undefined) lines.push(`Cause: ${fence.inline(JSON.stringify(incident.cause))}`);
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
  if (similar) lines.push('', 'Like this before:', ...similar.map((one) => fence.inline(JSON.stringify(one))));
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
    const { root_cause: cause, confidence, category, service, suspects, onset, not_checked } = conclusion;
    const found = cause !== '' && confidence !== 'none';
    const of = fence.inline(`${category} in ${service || '-'}`);
    lines.push(
      found ? `Root cause (${confidence} confidence, ${of}): ${fence.inline(cause)}` : 'Root cause: not found.',
    );
    if (found || suspects.length > 0 || not_checked.length > 0) {
      lines.push(fence.inline(JSON.stringify({ suspects, onset, not_checked })));
    }
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
