import { SightlineError, type IncidentId, type InvestigationId, type Logger } from '../../contract/core/index.ts';
import {
  findingOf,
  type Actor,
  type Incident,
  type IncidentPatch,
  type Investigation,
  type Workspace,
} from '../../contract/storage/index.ts';
import { boundDocument } from './bounds.ts';
import { mergeDocument, type Version } from './document.ts';
import { waitsOn, type Work } from './waiting.ts';

/** An investigation and how it stands, where the store does not know it yet. */
interface Own {
  readonly id: InvestigationId;
  readonly work: Work;
}

/** Keeps an incident in step with the investigations behind it. One that is resolved or dismissed is left as it is. */
interface IncidentFollower {
  /** Updates who the incident waits on, its status and its services. */
  follow(own?: Own): Promise<void>;
  /** Puts findings into its document, unless the holder has lost the investigation. */
  writeDocument(markdown: string, own: Own, holder: string): Promise<void>;
}

export function followIncident(workspace: Workspace, id: IncidentId, author: Actor, logger: Logger): IncidentFollower {
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
    async follow(own) {
      const incident = await workspace.incidents.get(id);
      if (incident === undefined) return;
      if (incident.status === 'resolved' || incident.status === 'dismissed') {
        // How it ended stays, and its cause is worth knowing when it comes again.
        const found = foundBy(own?.work);
        return found.finding === undefined ? undefined : tolerate(workspace.incidents.update(id, found, author));
      }
      const investigations = await workspace.investigations.ofIncident(id);
      const works = await Promise.all(
        investigations.map(async (each) => (each.id === own?.id ? own.work : workOf(each, workspace))),
      );
      const patch = { waitingOn: waitsOn(incident, works), ...progressOf(incident, own?.work) };
      await tolerate(workspace.incidents.update(id, patch, author));
    },
    async writeDocument(markdown, { id: investigation, work }, holder) {
      const found = work.status === 'completed' && work.conclusion?.confidence !== 'none';
      const findings = { markdown: boundDocument(markdown), found };
      const merge = async (): Promise<void> => {
        const { after, versions } = await documentsOf(id, workspace);
        const next = mergeDocument(versions, findings);
        // A resumed run comes to the same document; writing it again would only count up its version.
        if (next === versions.at(-1)?.markdown) return;
        await workspace.incidents.writeDocument(id, next, author, { after, held: { id: investigation, holder } });
      };
      // A concurrent edit is merged, too.
      await tolerate(
        merge().catch((error: unknown) => {
          if (error instanceof SightlineError && error.code === 'conflict') return merge();
          throw error;
        }),
      );
    },
  };
}

/** Who wrote what further back is not known: the oldest of these then counts as whole a person's, so that nothing is lost. */
const versionsRead = 50;

async function documentsOf(
  id: IncidentId,
  { incidents }: Workspace,
): Promise<{ readonly after: number; readonly versions: readonly Version[] }> {
  const versions: Version[] = [];
  const newest = (await incidents.documentVersions(id)).slice(0, versionsRead);
  for (const { version, author } of newest.toReversed()) {
    const { markdown = '' } = (await incidents.document(id, version)) ?? {};
    const first = newest.length === versionsRead && versions.length === 0;
    versions.push({ markdown, byAgent: author.kind === 'agent' && !first });
  }
  return { after: newest[0]?.version ?? 0, versions };
}

async function workOf(investigation: Investigation, workspace: Workspace): Promise<Work> {
  const { status, conclusion, question = '', chatId } = investigation;
  if (status === 'completed') return { status, conclusion };
  if (status !== 'waiting') return { status };
  return { status, question, asked: await askedIn(chatId, workspace) };
}

/** Only who started a chat may reply in it. */
export async function askedIn(chatId: Investigation['chatId'], workspace: Workspace): Promise<string | undefined> {
  const chat = chatId && (await workspace.chats.get(chatId));
  return chat?.createdBy.kind === 'user' ? chat.createdBy.name : undefined;
}

function foundBy(work: Work | undefined): IncidentPatch {
  const finding = work?.status === 'completed' && work.conclusion ? findingOf(work.conclusion) : undefined;
  return finding ? { finding } : {};
}

/** The patch of status and services that the state of an investigation calls for. */
function progressOf(incident: Incident, work: Work | undefined): IncidentPatch {
  if (work?.status === 'running' && incident.status === 'triage') return { status: 'investigating' };
  if (work?.status !== 'completed' || work.conclusion === undefined) return {};
  const { confidence, service } = work.conclusion;
  if (confidence !== 'high' && confidence !== 'medium') return foundBy(work);
  return {
    ...foundBy(work),
    ...(incident.status === 'investigating' && { status: 'identified' }),
    ...(service !== '' && incident.services.length === 0 && { services: [service] }),
  };
}
