import type { EarlierInvestigation } from '../../contract/agent/index.ts';
import type { IncidentId } from '../../contract/core/index.ts';
import type { Investigation, Workspace } from '../../contract/storage/index.ts';

const most = 5;

/**
 * What was found before this investigation: in its chat, and then about its incident, the newest first. A resumed run is
 * given the same, since what ended meanwhile was asked for later.
 */
export async function earlierInvestigations(
  investigation: Investigation,
  incidentId: IncidentId | undefined,
  { investigations }: Workspace,
): Promise<readonly EarlierInvestigation[]> {
  const { chatId, id } = investigation;
  const inChat = chatId === undefined ? [] : await investigations.ofChat(chatId);
  const ofIncident = incidentId === undefined ? [] : await investigations.ofIncident(incidentId);
  const known = new Set(inChat.map((each) => each.id));
  const before = [...olderThan(inChat, id), ...olderThan(ofIncident, id).filter((each) => !known.has(each.id))];
  const concluded = before.flatMap(({ conclusion, ...rest }) => (conclusion ? [{ ...rest, conclusion }] : []));
  return Promise.all(
    concluded.slice(0, most).map(async (each) => ({
      askedAt: each.askedAt,
      conclusion: each.conclusion,
      steps: await investigations.steps(each.id),
    })),
  );
}

function olderThan(newestFirst: readonly Investigation[], id: Investigation['id']): readonly Investigation[] {
  return newestFirst.slice(newestFirst.findIndex((each) => each.id === id) + 1);
}
