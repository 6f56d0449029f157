import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  asksToCancel,
  type Chat,
  type ChatMessage,
  type Incident,
  type User,
  type Actor,
} from '../../../contract/storage/index.ts';
import { moment, warning } from '../../components.ts';
import { parseForm } from '../../forms.ts';
import { html, type Html } from '../../html.ts';
import { definePage, type MemberVisit, type View, type Visit } from '../../page.ts';
import { findChat, chatStatusWords } from './list.ts';
import { messageHtml, type Behind } from './message.ts';
import { progressHtml, workOf } from './progress.ts';
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

/** A form to which somebody went back and wrote something else is another message. */
export function onceFor(once: string, message: string): string {
  return `${once} ${message}`;
}

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
    const reply = { message, author: authorOf(user), engine, idempotencyKey: onceFor(once, message) };
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
    workspace.investigations.ofChat(chat.id),
  ]);
  const behind = await Promise.all(
    investigations
      .filter(({ startedAt }) => startedAt !== undefined)
      .slice(0, mostInvestigations)
      .map(async (investigation) => ({ investigation, steps: await workspace.investigations.steps(investigation.id) })),
  );
  const newest = before > chat.lastSeq;
  const running = chat.status === 'running' && newest;
  // Loaded again every few seconds without script, the page would lose what somebody types.
  const writes = search.get('write') === 'yes' || typed.value !== undefined;
  const here = to(`/chats/${chat.id}`);
  return {
    title: chat.title,
    ...(typed.value !== undefined && { status: 400 }),
    live: running && !writes,
    body: html`${incident && about(incident, visit)}
      <div id="state" data-part="${chat.status}" ${running && html` data-live="${here}/news"`}>
        <p class="soft">
          ${chatStatusWords[chat.status]}. Started by
          ${chat.createdBy.id === user.id ? 'you' : html`<bdi>${chat.createdBy.name}</bdi>`}, ${moment(chat.createdAt)}.
        </p>
      </div>
      ${afterSeq > 0 && html`<p><a href="${here}?before=${afterSeq + 1}">Earlier messages</a></p>`}
      <div id="messages" data-part="${chat.lastSeq}">
        ${messages.map((message) => messageHtml(message, user.id, behind, to))}
      </div>
      ${newest ? ending(visit, chat, { typed, writes, latest: behind[0], messages }) : html`<p><a href="${here}">The newest messages</a></p>`}
      <p><a href="${to('/chats')}">All chats</a></p>`,
  };
}

/** The newest, by whose steps the answers are illustrated: a long chat stays quick. */
const mostInvestigations = 5;

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

interface Ending {
  readonly typed: Typed;
  readonly writes: boolean;
  readonly latest: Behind | undefined;
  readonly messages: readonly ChatMessage[];
}

/** What the agent does, and what the viewer can. */
function ending(visit: MemberVisit, chat: Chat, { typed, writes, latest, messages }: Ending): Html {
  const { status } = chat;
  const own = isOwn(chat, visit.user);
  const at = workOf(latest);
  return html`<div id="progress" data-part="${status} ${status === 'running' && at.version}">
      ${status === 'running' && progressHtml(at)}
      ${own && status === 'waiting' && warning('The agent waits for your answer.')}
      ${own && status === 'completed' && followUps(visit, chat, messages)} ${cancelForm(visit, chat)}
    </div>
    <div id="reply" data-part="${status}">
      ${own ? replySection(visit, chat, { typed, writes }) : onlyTheirs(visit)}
    </div>`;
}

function replySection(visit: MemberVisit, chat: Chat, { typed, writes }: Pick<Ending, 'typed' | 'writes'>): Html {
  if (chat.status !== 'running' || writes) return replyForm(visit, chat, typed);
  return html`<noscript>
      <p><a href="${visit.to(`/chats/${chat.id}`)}?write=yes">Write to the agent meanwhile</a></p>
    </noscript>
    <div data-scripted hidden>${replyForm(visit, chat, typed)}</div>`;
}

function onlyTheirs({ to }: MemberVisit): Html {
  return html`<p class="soft">
    Only who started this chat may reply to it. <a href="${to('/chats/new')}">Start a chat of your own</a> about the
    same matter.
  </p>`;
}

/** What is usually asked next, each sent by a click. */
const usuallyAsked = [
  'When did it start?',
  'Who is affected?',
  'What changed?',
  'Is it still going on?',
  'What should I do?',
  'Why do you think so?',
] as const;

/** Where something was found; what was asked already is left out. */
function followUps(visit: MemberVisit, chat: Chat, messages: readonly ChatMessage[]): Html | false {
  const found = messages.some(({ parts }) => parts.some(({ type }) => type === 'finding'));
  const asked = new Set(messages.map(({ content }) => content));
  const left = usuallyAsked.filter((question) => !asked.has(question));
  return (
    found &&
    left.length > 0 &&
    html`<form method="post" action="${visit.to(`/chats/${chat.id}`)}" aria-label="Ask on">
      ${visit.csrf}<input type="hidden" name="once" value="${randomUUID()}" />
      <div class="actions asks">
        ${left.map((question) => html`<button class="quiet small" name="message" value="${question}">${question}</button>`)}
      </div>
    </form>`
  );
}

function isOwn({ createdBy }: Chat, user: User): boolean {
  return createdBy.kind === 'user' && createdBy.id === user.id;
}

function replyForm(visit: MemberVisit, chat: Chat, { value, problem }: Typed): Html {
  const form = { action: `/chats/${chat.id}`, label: 'Your reply', button: 'Reply', value, problem };
  return html`<div class="card">${messageForm(visit, form)}</div>`;
}
