import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Actor, User } from '../../../contract/storage/index.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { Visit } from '../../page.ts';

const longest = 8_000;

/** A message to the agent, and a key by which sending the form twice writes it once. */
export const messageFields = {
  message: z
    .string()
    .transform((text) => text.replaceAll('\r\n', '\n').trim())
    .refine((text) => text !== '', 'Write a message.')
    .refine((text) => text.length <= longest, `A message has at most ${longest} characters.`)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), 'The message holds characters that cannot be kept.'),
  once: z.string().regex(/^[\w-]{1,64}$/),
};

export const messageSchema = z.object(messageFields);

export interface MessageForm {
  readonly action: string;
  readonly label: string;
  readonly button: string;
  /** The key of the incident that the message is about. */
  readonly incident?: string | undefined;
  readonly value?: string | undefined;
  readonly problem?: string | undefined;
}

export function messageForm({ to, csrf }: Visit, form: MessageForm): Html {
  const { action, label, button, incident, value, problem } = form;
  return html`<form method="post" action="${to(action)}">
    ${csrf}
    <input type="hidden" name="once" value="${randomUUID()}" />
    ${incident !== undefined && html`<input type="hidden" name="incident" value="${incident}" />`}
    <div class="field">
      <label for="message">${label}</label>
      ${problem !== undefined && html`<small class="problem" id="message-problem">${problem}</small>`}
      <textarea
        id="message"
        name="message"
        rows="4"
        maxlength="${longest}"
        required${problem !== undefined && html` aria-invalid="true" aria-describedby="message-problem"`}
      >
${value ?? ''}</textarea>
    </div>
    <button>${button}</button>
  </form>`;
}

/** People write under their address, as over MCP, so that both know the same author. */
export function authorOf({ id, email }: User): Actor {
  return { kind: 'user', id, name: email };
}
