import { z } from 'zod';
import {
  chooseInvestigation,
  type Incident,
  incidentStatuses,
  type IncidentStatusFilter,
  type Investigation,
  severities,
} from '../../contract/storage/index.ts';
import { textSparkline } from '../../web/graphics/sparkline.ts';
import { orgCommand, orgShape } from '../command.ts';
import { printable, showRows } from '../output.ts';
import { actOnIncidents, type Add, findIncident, incidentJson, waitingText, word } from './common.ts';

export const show: Add = (group, output) => {
  const command = orgCommand(group, 'show <key>', 'an incident, who it waits on and why, and the findings');
  actOnIncidents(command, output, orgShape, async (workspace, { options: { org }, operands: [key = ''] }) => {
    const incident = await findIncident(workspace, key, org);
    const chosen = chooseInvestigation(await workspace.investigations.ofIncident(incident.id));
    output.result(json(incident, chosen), () => text(incident, chosen));
  });
};

function json(incident: Incident, chosen: Investigation | undefined) {
  const { party, name, reason, since } = incident.waitingOn;
  return {
    ...incidentJson(incident),
    waiting_on: { party, name, reason, since: since.toISOString() },
    summary: incident.summary,
    services: incident.services,
    environment: incident.environment,
    resolution: incident.resolution?.kind,
    duplicate_of: incident.resolution?.duplicateOf,
    mitigated_at: incident.mitigatedAt?.toISOString(),
    resolved_at: incident.resolvedAt?.toISOString(),
    investigation: chosen && {
      id: chosen.id,
      status: chosen.status,
      question: chosen.question,
      root_cause: chosen.conclusion?.root_cause,
      confidence: chosen.conclusion?.confidence,
      onset: chosen.conclusion?.onset,
    },
  };
}

function text(incident: Incident, chosen: Investigation | undefined): string {
  const { resolution, summary: words } = incident;
  const conclusion = chosen?.conclusion;
  const lines: readonly (readonly [name: string, value: string | undefined])[] = [
    ['Status', incident.status],
    ['Severity', incident.severity],
    ['Waits on', `${waitingText(incident.waitingOn)}, since ${incident.waitingOn.since.toISOString()}`],
    ['Resolution', resolution && [resolution.kind, resolution.duplicateOf].filter(Boolean).join(' of ')],
    ['Assignee', incident.assignee],
    ['Services', incident.services.join(', ')],
    ['Environment', incident.environment],
    ['Started', incident.startedAt.toISOString()],
    ['Began', conclusion?.onset],
    ['Mitigated', incident.mitigatedAt?.toISOString()],
    ['Resolved', incident.resolvedAt?.toISOString()],
    ['Investigation', chosen?.status],
    ['It asks', chosen?.question],
    ['Course', incident.finding?.trend && textSparkline(incident.finding.trend)],
    ['Root cause', conclusion && `${conclusion.root_cause || 'not found'} (confidence: ${conclusion.confidence})`],
  ];
  const facts = lines.flatMap(([name, value]) => (value ? [`${name.padEnd(13)}  ${printable(value)}`] : []));
  return [
    `${incident.key}  ${printable(incident.title)}`,
    ...facts,
    ...(words === '' ? [] : ['', printable(words)]),
  ].join('\n');
}

export const timeline: Add = (group, output) => {
  const command = orgCommand(group, 'timeline <key>', 'who changed what and when, oldest first');
  actOnIncidents(command, output, orgShape, async (workspace, { options: { org }, operands: [key = ''] }) => {
    const entries = await workspace.incidents.timeline((await findIncident(workspace, key, org)).id);
    const rows = entries.map(({ at, actor, change, from, to }) => ({
      at: at.toISOString(),
      actor: { kind: actor.kind, name: actor.name },
      change,
      from,
      to,
    }));
    showRows(
      output,
      rows,
      ['time', 'who', 'what', 'from', 'to'],
      (row) => [row.at, row.actor.name, row.change, row.from ?? '', row.to ?? ''],
      'Nothing has changed yet.',
    );
  });
};

const filters: readonly IncidentStatusFilter[] = [...incidentStatuses, 'open'];
const shape = orgShape.extend({
  status: word(filters, 'status').optional(),
  severity: word(severities, 'severity').optional(),
  waitingOn: z.string().optional(),
});

export const list: Add = (group, output) => {
  const command = orgCommand(group, 'list', 'list incidents, newest first')
    .option('--status <status>', filters.join(', '))
    .option('--severity <severity>', severities.join(', '))
    .option('--waiting-on <who>', 'agent, human, external, none, or a name');
  actOnIncidents(command, output, shape, async ({ incidents }, { options: { status, severity, waitingOn } }) => {
    const { items } = await incidents.list({
      limit: 100,
      statuses: status && [status],
      severities: severity && [severity],
      waitingOn: waitingOn === undefined ? undefined : [waitingOn],
    });
    const rows = items.map(incidentJson);
    showRows(
      output,
      rows,
      ['key', 'status', 'severity', 'waits on', 'started', 'title'],
      (row) => [row.key, row.status, row.severity, row.waiting_on, row.started_at, row.title],
      'There is no such incident.',
    );
  });
};
