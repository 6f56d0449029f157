import type { IncidentDocument } from '../contract/index.ts';

/** Stands between what a person wrote and what the agent adds; an HTML comment, so that Markdown does not show it. */
const divider = '<!-- findings of the agent -->';
const heading = '# Findings of the agent';

/**
 * The incident's document with the agent's findings in it. What a person wrote stays, with the findings beneath; findings
 * of an earlier run are replaced.
 */
export function mergeDocument(current: IncidentDocument | undefined, findings: string): string {
  if (current === undefined) return findings;
  const at = current.markdown.indexOf(divider);
  if (at >= 0) return `${current.markdown.slice(0, at)}${divider}\n\n${heading}\n\n${findings}`;
  if (current.author.kind === 'agent') return findings;
  return `${current.markdown.trimEnd()}\n\n${divider}\n\n${heading}\n\n${findings}`;
}
