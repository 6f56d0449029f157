import { foldCase } from '../../../contract/index.ts';
import type { Incident } from '../../../contract/index.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';

/** Whether an incident waits for the person who looks at it: by name, or for anybody of the workspace. */
export type WaitsFor = 'viewer' | 'anybody' | 'others';

export function waitsFor({ waitingOn }: Pick<Incident, 'waitingOn'>, email: string): WaitsFor {
  if (waitingOn.party !== 'human') return 'others';
  if (waitingOn.name === undefined) return 'anybody';
  return foldCase(waitingOn.name) === foldCase(email) ? 'viewer' : 'others';
}

/** "Waits on you", in plain words. */
export function waitingText(incident: Pick<Incident, 'waitingOn'>, email: string): Html {
  const { party, name } = incident.waitingOn;
  const named = name === undefined ? '' : html` (<bdi>${name}</bdi>)`;
  switch (party) {
    case 'human':
      if (name === undefined) return html`Waits on somebody of this organization`;
      return waitsFor(incident, email) === 'viewer' ? html`Waits on you` : html`Waits on <bdi>${name}</bdi>`;
    case 'agent':
      return html`The agent is at work`;
    case 'external':
      return html`Waits on somebody outside${named}`;
    case 'none':
      return html`Waits on nobody`;
  }
}
