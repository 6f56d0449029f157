import type { Incident } from '../../../contract/storage/index.ts';
import { html, type Html } from '../../html.ts';
import { foldCase } from '../../../contract/core/index.ts';

/** Whether an incident waits for the person who looks at it: by name, or for anybody of the organization. */
export function waitsForViewer({ waitingOn }: Pick<Incident, 'waitingOn'>, email: string): boolean {
  return waitingOn.party === 'human' && (waitingOn.name === undefined || isViewer(waitingOn.name, email));
}

/** Behind "Waits on". */
export function waitedOn({ waitingOn: { party, name } }: Pick<Incident, 'waitingOn'>, email: string): Html {
  switch (party) {
    case 'human':
      if (name === undefined) return html`anybody of this organization`;
      return isViewer(name, email) ? html`you` : html`<bdi>${name}</bdi>`;
    case 'agent':
      return html`the agent`;
    case 'external':
      return name === undefined ? html`somebody outside` : html`<bdi>${name}</bdi>, outside`;
    case 'none':
      return html`nobody`;
  }
}

function isViewer(name: string, email: string): boolean {
  return foldCase(name) === foldCase(email);
}
