import { z } from 'zod';
import { defineTool, shortened, SightlineError, type Tool } from '../contract/core/index.ts';
import {
  incidentStatuses,
  severities,
  waitingParties,
  type Incident,
  type IncidentFilter,
  type Storage,
} from '../contract/storage/index.ts';
import type { Principal } from '../contract/issuer/index.ts';
import { chosen, type Fence, pageCursor, pageLimit, shortText, some, toolResult } from './result.ts';
import { parseTime, timeArgument } from './time.ts';
import { incidentRow, incidentRowNames, listLines, members, untrustedPaths } from './views.ts';

const waitedOn = shortText(320);

const input = z.strictObject({
  status: some([...incidentStatuses, 'open'])
    .optional()
    .describe('open: the first four'),
  severity: some(severities).optional().describe('Any of these'),
  waiting_on: z
    .array(waitedOn)
    .max(10)
    .optional()
    .describe(`${waitingParties.join(', ')}, me, or an e-mail`),
  service: shortText().optional().describe('Affected or to blame'),
  query: shortText().optional().describe('Words in title, summary or findings'),
  since: timeArgument.optional().describe('Started since: RFC 3339, epoch ms, or now-1d'),
  until: timeArgument.optional().describe('Started before'),
  limit: pageLimit,
  cursor: pageCursor,
});

const output = z.object({
  incidents: z.array(members(`${incidentRowNames}, rivals?`)),
  next_cursor: z.string().optional(),
  untrusted: untrustedPaths,
});

export function createListIncidents({
  storage,
  pagesUrl,
  now,
}: {
  readonly storage: Storage;
  readonly pagesUrl: string;
  readonly now: () => Date;
}): Tool {
  return defineTool({
    name: 'list_incidents',
    title: 'List incidents',
    description:
      'Incidents of the workspace, newest start first, as short rows. status "open" means not resolved or dismissed. ' +
      'Example: {"status":["open"],"severity":["critical","high"],"waiting_on":["human"]}. Read one with read_incident.',
    scope: 'incidents:read',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input,
    aliases: { statuses: 'status', severities: 'severity', waitingOn: 'waiting_on', start: 'since', end: 'until' },
    output,
    async run(args, { principal }) {
      const page = await storage.workspace(principal.organizationId).incidents.list(filter(args, principal, now()));
      const structured = {
        incidents: page.items.map((incident) => ({ ...incidentRow(incident, pagesUrl), rivals: rivalsOf(incident) })),
        next_cursor: page.nextCursor,
        untrusted: [
          'incidents[].title',
          'incidents[].services',
          'incidents[].cause',
          'incidents[].rivals',
          'incidents[].waiting_on',
        ],
      };
      const lines = listLines(page, 'incident', 'newest start first', (incident, fence) =>
        incidentLine(incident, incidentRow(incident, pagesUrl), fence),
      );
      return toolResult(structured, lines, { rows: page.items.length });
    },
  });
}

function filter(args: z.output<typeof input>, principal: Principal, now: Date): IncidentFilter {
  const { service, query, limit, cursor } = args;
  const statuses = chosen(args.status);
  const wanted = chosen(args.severity);
  const waiting = chosen(args.waiting_on)?.map((value) => waitingValue(value, principal));
  const since = args.since === undefined ? undefined : parseTime(args.since, now, 'since');
  const until = args.until === undefined ? undefined : parseTime(args.until, now, 'until');
  if (since && until && since >= until) {
    throw new SightlineError('invalid_argument', 'since is not before until, so nothing can match.', {
      hint: 'Swap the two, or leave one out.',
    });
  }
  return { limit, statuses, severities: wanted, waitingOn: waiting, service, query, since, until, cursor };
}

function waitingValue(value: string, principal: Principal): string {
  const wanted = value.trim().toLowerCase();
  if (wanted === 'me') {
    if (principal.email !== undefined) return principal.email;
    const message = 'waiting_on "me" needs a signed-in person; an API key has no e-mail.';
    const hint = 'Send the e-mail address of a member, or "human" for anyone.';
    throw new SightlineError('invalid_argument', message, { hint });
  }
  if (wanted.includes('@') || waitingParties.some((party) => party === wanted)) return wanted;
  throw new SightlineError('invalid_argument', 'waiting_on names neither a party nor an e-mail address.', {
    hint: `Send ${waitingParties.join(', ')}, me, or the e-mail address of a member.`,
  });
}

function rivalsOf({ finding }: Incident) {
  return finding?.rivals?.map(({ service, why, why_not: not }) => ({
    service,
    why: shortened(why, 160),
    why_not: not === undefined ? undefined : shortened(not, 160),
  }));
}

function incidentLine(incident: Incident, { cause, url }: ReturnType<typeof incidentRow>, fence: Fence): string {
  const { waitingOn, resolution } = incident;
  const { party, name, reason, since } = waitingOn;
  const said = [name, reason].filter((text) => text !== undefined).join(': ');
  const ended = incident.resolvedAt === undefined ? '' : ` at ${incident.resolvedAt.toISOString()}`;
  const original = resolution?.duplicateOf === undefined ? '' : ` of ${resolution.duplicateOf}`;
  const services = incident.services.length === 0 ? '-' : fence.inline(incident.services.slice(0, 20).join(', '));
  return [
    incident.key,
    incident.severity,
    incident.status,
    `waits on ${party}${said === '' ? '' : ` (${fence.inline(said)})`} since ${since.toISOString()}`,
    `started ${incident.startedAt.toISOString()}`,
    `updated ${incident.updatedAt.toISOString()}`,
    ...(resolution === undefined && ended === '' ? [] : [`ended${ended}: ${resolution?.kind ?? ''}${original}`]),
    `services ${services}`,
    fence.inline(incident.title),
    ...(cause === undefined
      ? []
      : [
          `cause (${cause.confidence} confidence, ${fence.inline(`${cause.category} in ${cause.service || '-'}: ${cause.text}`)})`,
        ]),
    ...(rivalsOf(incident) ?? []).map(({ service, why, why_not: not }) =>
      fence.inline(`rival ${service}: ${why}${not === undefined ? '' : ` Against it: ${not}`}`),
    ),
    incident.id,
    url,
  ].join(' | ');
}
