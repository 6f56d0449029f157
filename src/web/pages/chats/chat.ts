import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  asksToCancel,
  type Chat,
  type ChatMessage,
  type Incident,
  type MessagePart,
  type User,
  type Actor,
} from '../../../contract/storage/index.ts';
import { copyable, moment, warning } from '../../components.ts';
import { parseForm } from '../../forms.ts';
import { html, type Html } from '../../html.ts';
import { renderInline, renderMarkdown } from '../../markdown/render.ts';
import { definePage, type MemberVisit, type View, type Visit } from '../../page.ts';
import { findChat, chatStatusWords } from './list.ts';
import { SightlineError } from '../../../contract/core/index.ts';

export const cancelPage = definePage({
  path: '/chats/:id/cancel',
  access: 'member',
  async post(visit, _form, { cancelChat }) {
    const chat = await findChat(visit.workspace, visit.params['id'] ?? '');
    if (!mayCancel(visit, chat)) {
      throw new SightlineError('forbidden', 'Only who started this chat, or an admin, may cancel it.');
    }
    await cancelChat(visit.workspace, chat.id, authorOf(visit.user));
    return { redirect: `/chats/${chat.id}` };
  },
});

/** A button for who may press it, while there is something to stop. */
function cancelForm(visit: MemberVisit, chat: Chat): Html | false {
  const open = chat.status === 'running' || chat.status === 'waiting';
  return (
    open &&
    mayCancel(visit, chat) &&
    html`<form method="post" action="${visit.to(`/chats/${chat.id}/cancel`)}">
      ${visit.csrf}
      <p>
        <button class="danger">${chat.status === 'running' ? 'Stop the agent' : 'Close without an answer'}</button>
      </p>
    </form>`
  );
}

function mayCancel({ user, role }: MemberVisit, { createdBy }: Chat): boolean {
  return role === 'admin' || (createdBy.kind === 'user' && createdBy.id === user.id);
}

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

const messageSchema = z.object(messageFields);

interface MessageForm {
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

const perPage = 50;
const mostParts = 100;

export const chatPage = definePage({
  path: '/chats/:id',
  access: 'member',
  async get(visit) {
    return chatView(visit, await findChat(visit.workspace, visit.params['id'] ?? ''), {});
  },
  async post(visit, form, { engine, wake, cancelChat }) {
    const { workspace, params, user } = visit;
    const chat = await findChat(workspace, params['id'] ?? '');
    const read = parseForm(messageSchema, form);
    if (!read.ok) {
      return chatView(visit, chat, { value: form.get('message') ?? '', problem: read.problems['message'] });
    }
    const { message, once } = read.values;
    if (asksToCancel(message) && isOwn(chat, user)) {
      await cancelChat(workspace, chat.id, authorOf(user));
      return { redirect: `/chats/${chat.id}` };
    }
    const reply = { message, author: authorOf(user), engine, idempotencyKey: once };
    await workspace.chats.reply(chat.id, reply);
    wake();
    return { redirect: `/chats/${chat.id}` };
  },
});

export interface Typed {
  readonly value?: string;
  readonly problem?: string | undefined;
}

async function chatView(visit: MemberVisit, chat: Chat, typed: Typed): Promise<View> {
  const { workspace, search, to, user } = visit;
  const before = beforeSeq(search.get('before'), chat);
  const afterSeq = Math.max(0, before - 1 - perPage);
  const [messages, incident, investigations] = await Promise.all([
    workspace.chats.messages(chat.id, { afterSeq, limit: Math.max(1, before - 1 - afterSeq) }),
    chat.incidentId === undefined ? undefined : workspace.incidents.get(chat.incidentId),
    chat.status === 'running' ? workspace.investigations.ofChat(chat.id) : [],
  ]);
  const newest = before > chat.lastSeq;
  const doing = investigations.find(({ status }) => status === 'running')?.doing;
  const here = to(`/chats/${chat.id}`);
  return {
    title: chat.title,
    ...(typed.value !== undefined && { status: 400 }),
    body: html`${incident && about(incident, visit)}
      <p class="soft">
        ${chatStatusWords[chat.status]}. Started by
        ${chat.createdBy.id === user.id ? 'you' : html`<bdi>${chat.createdBy.name}</bdi>`}, ${moment(chat.createdAt)}.
      </p>
      ${afterSeq > 0 && html`<p><a href="${here}?before=${afterSeq + 1}">Earlier messages</a></p>`}
      ${messages.map((message) => messageHtml(message, user.id))}
      ${newest ? ending(visit, chat, typed, doing) : html`<p><a href="${here}">The newest messages</a></p>`}
      <p><a href="${to('/chats')}">All chats</a></p>`,
  };
}

/** Messages before this one are shown; without a wish, the newest. */
function beforeSeq(asked: string | null, { lastSeq }: Chat): number {
  const seq = Number(asked ?? lastSeq + 1);
  return Number.isInteger(seq) && seq > 1 && seq <= lastSeq ? seq : lastSeq + 1;
}

function about(incident: Incident, { to }: MemberVisit): Html {
  return html`<p>
    About <a href="${to(`/incidents/${incident.key}`)}">${incident.key}: <bdi>${incident.title}</bdi></a
    >.
  </p>`;
}

function ending(visit: MemberVisit, chat: Chat, typed: Typed, doing: string | undefined): Html {
  const own = isOwn(chat, visit.user);
  if (chat.status === 'running') {
    return html`<p role="status">
        The agent is at work. <a href="${visit.to(`/chats/${chat.id}`)}">Look again</a> for its answer.
      </p>
      ${doing !== undefined && html`<p class="soft">${renderInline(doing)}</p>`} ${cancelForm(visit, chat)}
      ${own && replyForm(visit, chat, typed)}`;
  }
  if (own) {
    return html`${chat.status === 'waiting' && warning('The agent waits for your answer.')}${replyForm(visit, chat, typed)}
    ${cancelForm(visit, chat)}`;
  }
  return html`${cancelForm(visit, chat)}
    <p class="soft">
      Only who started this chat may reply to it. <a href="${visit.to('/chats/new')}">Start a chat of your own</a> about
      the same matter.
    </p>`;
}

function isOwn({ createdBy }: Chat, user: User): boolean {
  return createdBy.kind === 'user' && createdBy.id === user.id;
}

function replyForm(visit: MemberVisit, chat: Chat, { value, problem }: Typed): Html {
  const form = { action: `/chats/${chat.id}`, label: 'Your reply', button: 'Reply', value, problem };
  return html`<div class="card">${messageForm(visit, form)}</div>`;
}

function messageHtml({ seq, role, author, time, content, parts }: ChatMessage, viewer: string): Html {
  const who = role === 'agent' ? 'The agent' : author.id === viewer ? 'You' : html`<bdi>${author.name}</bdi>`;
  return html`<article class="card" id="message-${seq}" aria-labelledby="author-${seq}">
    <h2 id="author-${seq}">${who} <small>${moment(time)}</small></h2>
    ${role === 'user' ? html`<p class="wrap" dir="auto">${content}</p>` : renderMarkdown(content, 2)}
    ${partsHtml(seq, parts.slice(0, mostParts))}
  </article>`;
}

function partsHtml(seq: number, parts: readonly MessagePart[]): Html {
  const findings = parts.filter((part) => part.type === 'finding');
  const queries = parts.filter((part) => part.type === 'query');
  return html`${
    findings.length > 0 &&
    html`<h3>Findings</h3>
      <ul>
        ${findings.map(({ evidence_id: id, text }) => html`<li>${renderInline(text)} <small>(${id})</small></li>`)}
      </ul>`
  }${queries.map(
    ({ evidence_id: id, sql }, index) =>
      html`<details>
        <summary>Query ${id}</summary>
        ${copyable(`sql-${seq}-${index}`, sql)}
      </details>`,
  )}`;
}
