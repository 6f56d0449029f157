import type { Chat, Incident } from '../../../contract/storage/index.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { MemberVisit } from '../../page.ts';
import { messageForm } from '../chats/message.ts';

/**
 * What a person tells the agent about an incident. Where it asked in a chat of theirs, that is where the answer goes; else
 * it begins a chat, which joins an investigation that waits for an answer.
 */
export function answerForm(visit: MemberVisit, incident: Incident, asked: Chat | undefined): Html {
  if (asked === undefined) {
    return messageForm(visit, { action: '/chats/new', label: 'Your message', button: 'Send', incident: incident.key });
  }
  return html`<p>
      The agent asked you in the chat <a href="${visit.to(`/chats/${asked.id}`)}"><bdi>${asked.title}</bdi></a
      >.
    </p>
    ${messageForm(visit, { action: `/chats/${asked.id}`, label: 'Your answer', button: 'Answer' })}`;
}
