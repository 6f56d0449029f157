import { z } from 'zod';
import {
  incidentStatuses,
  nextStatuses,
  requireMembers,
  resolutions,
  severities,
  waitingParties,
  type Incident,
  type IncidentPatch,
} from '../../../contract/storage/index.ts';
import { alert } from '../../components.ts';
import { refusal } from '../../failure.ts';
import { requireForm } from '../../forms.ts';
import { html, type Html } from '../../html.ts';
import { definePage, type MemberVisit, type View } from '../../page.ts';
import { authorOf } from '../chats/chat.ts';
import { findIncident, partyWords, resolutionWords, severityWords, statusWords } from './words.ts';

const line = (longest: number) =>
  z
    .string()
    .trim()
    .refine((text) => text.length <= longest && text.isWellFormed() && !/\p{Cc}/u.test(text));

const schema = z.object({
  /** When the incident that the form shows was last changed. */
  seen: z.string(),
  status: z.enum(incidentStatuses),
  severity: z.enum(severities),
  assignee: line(320),
  party: z.enum(waitingParties),
  name: line(320),
  reason: line(300),
  resolution: z.enum(['', ...resolutions]),
  duplicate_of: line(40),
});

type Filled = z.output<typeof schema>;

/** The form for an incident's status, assignee, resolution and who it waits on. */
export const changePage = definePage({
  path: '/incidents/:key/change',
  access: 'member',
  async get(visit) {
    const incident = await findIncident(visit.workspace, visit.params['key'] ?? '');
    // A button leads here with the status that it is named after; nothing changes until the form is sent.
    const wanted = nextStatuses(incident.status).find((status) => status === visit.search.get('status'));
    return formView(visit, incident, { ...asItIs(incident), ...(wanted && { status: wanted }) });
  },
  async post(visit, form) {
    const { workspace, params, user } = visit;
    const incident = await findIncident(workspace, params['key'] ?? '');
    const filled = requireForm(schema, form);
    if (filled.seen !== asItIs(incident).seen) {
      const message = alert('Somebody changed the incident meanwhile. This is how it stands now.');
      return formView(visit, incident, asItIs(incident), { message, status: 409 });
    }
    try {
      const patch = patchOf(incident, filled);
      await requireMembers(workspace.members, patch);
      await workspace.incidents.update(incident.id, patch, authorOf(user));
    } catch (error) {
      return formView(visit, incident, filled, refusal(error));
    }
    return { redirect: `/incidents/${incident.key}` };
  },
});

function asItIs({ updatedAt, status, severity, assignee, waitingOn, resolution }: Incident): Filled {
  return {
    seen: String(updatedAt.getTime()),
    status,
    severity,
    assignee: assignee ?? '',
    party: waitingOn.party,
    name: waitingOn.name ?? '',
    reason: waitingOn.reason ?? '',
    resolution: resolution?.kind ?? '',
    duplicate_of: resolution?.duplicateOf ?? '',
  };
}

/** Only the fields that the member changed, so that concurrent changes to others survive. */
function patchOf(incident: Incident, filled: Filled): IncidentPatch {
  const was = asItIs(incident);
  const differs = (...fields: readonly (keyof Filled)[]): boolean =>
    fields.some((field) => filled[field] !== was[field]);
  const { status, severity, assignee, party, name, reason, resolution: kind, duplicate_of: original } = filled;
  return {
    ...(differs('status') && { status }),
    ...(differs('severity') && { severity }),
    ...(differs('assignee') && { assignee: assignee === '' ? null : assignee }),
    ...(differs('party', 'name', 'reason') && {
      waitingOn: { party, ...(name !== '' && { name }), ...(reason !== '' && { reason }) },
    }),
    ...(differs('resolution', 'duplicate_of') &&
      kind !== '' && { resolution: { kind, ...(original !== '' && { duplicateOf: original }) } }),
  };
}

function formView(
  visit: MemberVisit,
  incident: Incident,
  filled: Filled,
  problem?: Pick<ReturnType<typeof refusal>, 'message' | 'status'>,
): View {
  const { to, csrf } = visit;
  const path = `/incidents/${incident.key}`;
  return {
    title: `Change ${incident.key}`,
    ...(problem && { status: problem.status }),
    body: html`${problem?.message}
      <p><bdi>${incident.title}</bdi></p>
      <form method="post" action="${to(`${path}/change`)}" class="card">
        ${csrf}
        <input type="hidden" name="seen" value="${filled.seen}" />
        ${choice('status', 'Status', [incident.status, ...nextStatuses(incident.status)], statusWords, filled.status)}
        ${choice('severity', 'Severity', severities, severityWords, filled.severity)}
        ${text('assignee', 'Assigned to', 'The address of a member; empty for nobody.', filled.assignee, 320)}
        <fieldset>
          <legend>Waits on</legend>
          ${choice('party', 'Who', waitingParties, partyWords, filled.party)}
          ${text('name', 'Name', 'The address of a member, or who it is outside.', filled.name, 320)}
          ${text('reason', 'Why', 'In a sentence.', filled.reason, 300)}
        </fieldset>
        <fieldset>
          <legend>How it ended</legend>
          ${choice('resolution', 'Resolution', ['', ...resolutions], resolutionWords, filled.resolution)}
          ${text('duplicate_of', 'Duplicate of', 'The key of the other incident, such as INC-12.', filled.duplicate_of, 40)}
        </fieldset>
        <div class="actions"><button>Save</button><a class="button quiet" href="${to(path)}">Back</a></div>
      </form>`,
  };
}

function choice<Value extends string>(
  name: string,
  label: string,
  values: readonly Value[],
  words: Readonly<Record<Value, string>>,
  chosen: Value,
): Html {
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <select id="${name}" name="${name}">
      ${values.map((value) => html`<option value="${value}" ${value === chosen && html` selected`}>${words[value]}</option>`)}
    </select>
  </div>`;
}

function text(name: string, label: string, hint: string, value: string, longest: number): Html {
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <small id="${name}-hint">${hint}</small>
    <input id="${name}" name="${name}" value="${value}" maxlength="${longest}" aria-describedby="${name}-hint" />
  </div>`;
}
