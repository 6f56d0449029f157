import { z } from 'zod';
import { defineTool, type Tool } from '../contract/core/index.ts';
import type { Storage } from '../contract/storage/index.ts';
import { chosen, some, shortText, toolResult } from './result.ts';
import { investigationMembers } from './investigation-view.ts';
import { describeIncident } from './incident-text.ts';
import { gatherIncident, incidentParts, type Wanted } from './incident-view.ts';
import { findIncident } from './references.ts';
import { members, untrustedPaths } from './views.ts';

const usualParts = ['document', 'investigation', 'alerts', 'chats'] as const;

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
  similar: z.array(members('key, title, cause, ended')).optional(),
  alerts: z.array(members('title, description?, status, severity, starts_at, ends_at?, labels, url?')).optional(),
  chats: z.array(members('id, title, status, created_by, updated_at')).optional(),
  notes: z.array(z.string()).describe('What was cut or is missing'),
  untrusted: untrustedPaths,
});

/** What one call answers with at most, in bytes: less than 4,000 tokens, and what clients show whole where the caller wants more. */
const usualBudget = 10_500;
const askedBudget = 36_000;

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
      const structured = await gatherIncident(workspace, incident, partsOf(args));
      return toolResult(structured, describeIncident(structured), {
        rows: structured.investigation?.steps.length ?? 0,
        truncated: structured.notes.length > 0,
      });
    },
  });
}

function partsOf({ include, evidence_id: id }: z.output<typeof input>): Wanted {
  const parts = chosen(include) ?? (id === undefined ? usualParts : ['investigation']);
  const evidence = id === undefined ? (parts.includes('evidence') ? 'all' : 'none') : { id };
  const asked = include !== undefined || id !== undefined;
  return { parts: new Set(parts), evidence, budget: asked ? askedBudget : usualBudget };
}
