import type { Incident, IncidentRepository } from './incident.ts';
import type { Finding } from './investigation.ts';

/** An incident whose cause was found before. */
export type Precedent = Incident & { readonly finding: Finding };

const compared = 50;
const shown = 3;
/** Of the words of two causes, so many are the same where they are of one kind. */
const alike = 0.5;

/**
 * The incidents that are most like this finding, the likest first: the same service is to blame, in the same way or in almost
 * the same words. Of an incident, those that started before it.
 */
export async function precedents(
  incidents: IncidentRepository,
  finding: Finding | undefined,
  of?: Pick<Incident, 'id' | 'startedAt'>,
): Promise<readonly Precedent[]> {
  if (finding === undefined || finding.service === '') return [];
  const blamed = { blamed: finding.service, limit: compared };
  const { items } = await incidents.list(of === undefined ? blamed : { ...blamed, until: of.startedAt });
  return items
    .flatMap((incident) => (incident.finding === undefined ? [] : [{ ...incident, finding: incident.finding }]))
    .map((incident) => {
      const sameWords = likeness(incident.finding.root_cause, finding.root_cause);
      const sameKind = incident.finding.category === finding.category;
      return { incident, score: (sameKind ? 1 : 0) + sameWords, isAlike: sameKind || sameWords >= alike };
    })
    .filter(({ incident, isAlike }) => isAlike && (of === undefined ? isOver(incident) : incident.id !== of.id))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, shown)
    .map(({ incident }) => incident);
}

/** By the words that stay from one time to the next: figures, times and ids have a digit in them. */
function likeness(one: string, other: string): number {
  const words = (text: string) => new Set(text.split(/\s+/).filter((word) => !/\d/.test(word)));
  const [ours, theirs] = [words(one), words(other)];
  const same = [...ours].filter((word) => theirs.has(word)).length;
  return same / Math.max(1, ours.size + theirs.size - same);
}

/** Of what a chat asks about, an open incident may be the very thing. */
function isOver({ status }: Incident): boolean {
  return status === 'resolved' || status === 'dismissed';
}

/** How an incident ended: one sentence. */
export function howItEnded(incident: Incident): string {
  if (!isOver(incident)) return `It is still open: ${incident.status}.`;
  const { status, resolution, resolvedAt } = incident;
  const how = resolution === undefined ? '' : ` as ${resolution.kind.replaceAll('_', ' ')}`;
  const original = resolution?.duplicateOf === undefined ? '' : ` of ${resolution.duplicateOf}`;
  const when = resolvedAt === undefined ? '' : ` on ${resolvedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `It was ${status}${how}${original}${when}.`;
}
