import { SightlineError } from '../contract/index.ts';
import type { Actor, Conclusion, Incident, IncidentId, IncidentPatch, Logger, Workspace } from '../contract/index.ts';
import { boundDocument, boundReason } from './bounds.ts';
import { mergeDocument } from './document.ts';

export type Outcome =
  | { readonly status: 'completed'; readonly conclusion: Conclusion }
  | { readonly status: 'waiting'; readonly question: string }
  | { readonly status: 'failed' };

/**
 * Keeps an incident in step with the investigation behind it: it waits on the agent while the agent works, then on a
 * person. One that is closed, or that waits on somebody outside, is left as it is.
 */
export interface IncidentFollower {
  begin(): Promise<void>;
  writeDocument(markdown: string): Promise<void>;
  end(outcome: Outcome): Promise<void>;
}

export function followIncident(workspace: Workspace, id: IncidentId, author: Actor, logger: Logger): IncidentFollower {
  async function patch(make: (incident: Incident) => IncidentPatch | undefined): Promise<void> {
    const incident = await workspace.incidents.get(id);
    if (incident === undefined || incident.status === 'resolved' || incident.status === 'dismissed') return;
    const change = make(incident);
    if (change !== undefined) await tolerate(workspace.incidents.update(id, change, author));
  }

  /** Somebody may move the incident at the same moment, or the store refuse a change: the investigation goes on. */
  async function tolerate(change: Promise<unknown>): Promise<void> {
    try {
      await change;
    } catch (error) {
      if (!(error instanceof SightlineError) || error.code === 'unavailable') throw error;
      logger.warn({ incident: id, error }, 'the incident could not be brought up to date');
    }
  }

  return {
    begin: () =>
      patch((incident) => {
        const waits = incident.waitingOn.party;
        const waitingOn =
          waits === 'human' || waits === 'none' ? { party: 'agent', reason: 'Investigating' } : undefined;
        const status = incident.status === 'triage' ? 'investigating' : undefined;
        if (waitingOn === undefined && status === undefined) return undefined;
        return { ...(waitingOn && { waitingOn: { ...waitingOn, party: 'agent' } }), ...(status && { status }) };
      }),
    async writeDocument(markdown) {
      const current = await workspace.incidents.document(id);
      const next = mergeDocument(current, boundDocument(markdown));
      // A resumed run comes to the same document; writing it again would only count up its version.
      if (next !== current?.markdown) await tolerate(workspace.incidents.writeDocument(id, next, author));
    },
    end: (outcome) =>
      patch((incident) => {
        const waitingOn =
          incident.waitingOn.party === 'external'
            ? undefined
            : {
                party: 'human' as const,
                reason: reasonOf(outcome),
                ...(incident.assignee !== undefined && { name: incident.assignee }),
              };
        const found = outcome.status === 'completed' ? outcome.conclusion : undefined;
        const sure = found?.confidence === 'high' || found?.confidence === 'medium';
        return {
          ...(waitingOn && { waitingOn }),
          ...(sure && incident.status === 'investigating' && { status: 'identified' as const }),
          ...(sure && found.service !== '' && incident.services.length === 0 && { services: [found.service] }),
        };
      }),
  };
}

function reasonOf(outcome: Outcome): string {
  switch (outcome.status) {
    case 'waiting':
      return boundReason(outcome.question);
    case 'failed':
      return 'The investigation failed';
    case 'completed':
      return outcome.conclusion.confidence === 'none'
        ? 'Nothing was found: decide whether to close it'
        : 'Review the findings and decide on the next step';
  }
}
