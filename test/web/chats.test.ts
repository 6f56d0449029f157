import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Actor, Chat, MessagePart } from '../../src/contract/storage/index.ts';
import { readable } from '../support/person.ts';
import { engine, openWorkplace, operator, type Colleague, type Workplace } from './support/workplace.ts';

const hostile = '<img src=x onerror=alert(1)>"\'&';
const agent: Actor = { kind: 'agent', id: engine, name: 'agent' };

describe('the pages of chats', () => {
  let place: Workplace;
  let ada: Colleague;
  let mia: Colleague;
  beforeAll(async () => {
    place = await openWorkplace();
    ada = await place.enter('admin', 'ada@acme.example');
    mia = await place.enter('member', 'mia@acme.example');
  });
  afterAll(() => place.close());

  const read = async ({ browser }: Colleague, path: string) => readable((await browser.get(path)).text);
  const messagesOf = async (id: Chat['id']) =>
    (await place.workspace.chats.messages(id, { limit: 100 })).map(({ content }) => content);

  async function start({ user }: Colleague, message: string): Promise<Chat> {
    const author: Actor = { kind: 'user', id: user.id, name: user.email };
    return (await place.workspace.chats.start({ title: message, message, author, engine })).chat;
  }

  async function answer({ id }: Chat, message: string, parts: readonly MessagePart[], waits = false): Promise<void> {
    const [investigation] = await place.workspace.investigations.ofChat(id);
    if (investigation === undefined) throw new Error('nothing was queued');
    const conclusion = { root_cause: '', category: '', service: '', confidence: 'none', claims: [] } as const;
    const closing = { message, author: agent, parts };
    await place.workspace.investigations.finish(
      investigation.id,
      waits ? { status: 'waiting', ...closing } : { status: 'completed', conclusion, ...closing },
    );
  }

  it('start one, in the name of who asks, and wake the agent', async () => {
    const before = place.woken;
    const asked = await mia.browser.submit('/chats/new', { message: 'Why did checkout\r\nfail at 14:00?' });
    const path = asked.headers.location ?? '';
    expect([asked.status, path]).toEqual([303, expect.stringMatching(/^\/chats\/chat_/)]);
    expect(place.woken).toBe(before + 1);
    const { items } = await place.workspace.chats.list({ limit: 1 });
    expect(items[0]).toMatchObject({
      title: 'Why did checkout fail at 14:00?',
      createdBy: { kind: 'user', id: mia.user.id, name: 'mia@acme.example' },
    });
    expect(await read(mia, path)).toContain('The agent is at work.');
  });

  it('start one where a form is sent twice', async () => {
    const fields = { csrf: await mia.browser.csrf('/chats/new'), message: 'Twice?', once: 'the-same' };
    const first = await mia.browser.post('/chats/new', fields);
    const second = await mia.browser.post('/chats/new', fields);
    expect(second.headers.location).toBe(first.headers.location);
    expect((await place.workspace.chats.list({ query: 'Twice', limit: 10 })).items).toHaveLength(1);
    // Gone back to, and changed.
    const changed = await mia.browser.post('/chats/new', { ...fields, message: 'Twice, then otherwise?' });
    expect(changed.status).toBe(303);
    expect(changed.headers.location).not.toBe(first.headers.location);
  });

  it('show what the agent answered, with its findings and the queries behind them', async () => {
    const chat = await start(ada, 'Why is payment slow?');
    await answer(chat, '**Payment** is slow since `14:00`.', [
      { type: 'finding', evidence_id: 'E2', text: 'p95 of `payment` doubled' },
      { type: 'query', evidence_id: 'E2', sql: 'SELECT 1 < 2' },
    ]);
    const { text } = await mia.browser.get(`/chats/${chat.id}`);
    expect(text).toContain('<p><strong>Payment</strong> is slow since <code>14:00</code>.</p>');
    const page = readable(text);
    for (const part of ['Why is payment slow?', 'Findings p95 of payment doubled (E2)', 'Query E2 SELECT 1 < 2']) {
      expect(page).toContain(part);
    }
  });

  it('take a reply of who started it, once, and wake the agent', async () => {
    const chat = await start(ada, 'Which release?');
    await answer(chat, 'Of which service?', [{ type: 'question', text: 'Of which service?' }], true);
    const path = `/chats/${chat.id}`;
    expect(await read(ada, path)).toContain('The agent waits for your answer.');
    expect(await read(ada, '/chats')).toContain('Which release? Waits for your answer you');
    const before = place.woken;
    const fields = { csrf: await ada.browser.csrf(path), message: 'Of payment', once: 'reply-1' };
    for (let times = 0; times < 2; times += 1) {
      expect((await ada.browser.post(path, fields)).headers.location).toBe(path);
    }
    expect(await messagesOf(chat.id)).toEqual(['Which release?', 'Of which service?', 'Of payment']);
    expect(place.woken).toBeGreaterThan(before);
    expect((await place.workspace.chats.get(chat.id))?.status).toBe('running');
  });

  it('take the longest message in any script', async () => {
    const message = '障'.repeat(8_000);
    const asked = await mia.browser.submit('/chats/new', { message });
    const { items } = await place.workspace.chats.list({ limit: 1 });
    expect(asked.headers.location).toBe(`/chats/${items[0]?.id}`);
  });

  it('have no form for anybody else, and take nothing from them', async () => {
    const chat = await start(ada, 'Mine alone');
    await answer(chat, 'Yes', []);
    const path = `/chats/${chat.id}`;
    const page = await mia.browser.get(path);
    expect(readable(page.text)).toContain('Only who started this chat may reply to it.');
    expect(page.text).not.toContain('<textarea');
    const sent = await mia.browser.post(path, { csrf: await mia.browser.csrf('/account'), message: 'No', once: 'x' });
    expect(sent.status).toBe(403);
    expect(await messagesOf(chat.id)).toEqual(['Mine alone', 'Yes']);
  });

  it.each([
    ['nothing', ' \r\n ', 'Write a message.'],
    ['8,001 characters', 'x'.repeat(8_001), 'at most 8000 characters'],
    ['a NUL', 'a\0b', 'cannot be kept'],
  ])('keep what was typed and say what is wrong with %s', async (_what, message, problem) => {
    const chat = await start(ada, 'Bounded');
    for (const path of ['/chats/new', `/chats/${chat.id}`]) {
      const sent = await ada.browser.submit(path, { message });
      expect([sent.status, readable(sent.text)]).toEqual([400, expect.stringContaining(problem)]);
      if (message.startsWith('x')) expect(sent.text).toContain(message);
    }
    expect(await messagesOf(chat.id)).toEqual(['Bounded']);
  });

  it('show fifty messages at once, the newest first to be seen, and lead to the earlier ones', async () => {
    const chat = await start(ada, 'Message 1');
    const author: Actor = { kind: 'user', id: ada.user.id, name: ada.user.email };
    for (let count = 2; count <= 60; count += 1) {
      await place.workspace.chats.reply(chat.id, { message: `Message ${count}`, author, engine });
    }
    const shown = async (path: string) =>
      [...(await ada.browser.get(path)).text.matchAll(/auto">Message (\d+)</g)].map(([, seq]) => Number(seq));
    const path = `/chats/${chat.id}`;
    expect(await shown(path)).toEqual(Array.from({ length: 50 }, (_value, index) => index + 11));
    const [, earlier = ''] = /href="([^"]*before=\d+)"/.exec((await ada.browser.get(path)).text) ?? [];
    expect(await shown(earlier)).toEqual(Array.from({ length: 10 }, (_value, index) => index + 1));
    for (const odd of ['0', '-1', '1.5', '999999', 'x', '9'.repeat(400)]) {
      expect(await shown(`${path}?before=${odd}`)).toHaveLength(50);
    }
  });

  it('are listed, the last changed first, by status and by who started them', async () => {
    const own = await start(mia, 'Listed of Mia');
    const list = await read(mia, '/chats');
    expect(list.indexOf('Listed of Mia')).toBeLessThan(list.indexOf('Message 1'));
    expect(await read(mia, '/chats?mine=yes')).not.toContain('Message 1');
    expect(await read(mia, '/chats?mine=yes&status=running')).toContain('Listed of Mia');
    await answer(own, 'Done', []);
    expect(await read(mia, '/chats?mine=yes&status=running')).not.toContain('Listed of Mia');
    for (let count = 0; count < 26; count += 1) await start(mia, `Paged ${count}`);
    const { text } = await mia.browser.get('/chats?mine=yes');
    const next = /href="([^"]*after=[^"]*)"/.exec(text)?.[1]?.replaceAll('&#38;', '&') ?? '';
    expect(await read(mia, next)).toContain('Listed of Mia');
    expect(await read(mia, next)).not.toContain('Message 1');
  });

  it('stop the agent for who started it and for an admin, and for nobody else', async () => {
    const max = await place.enter('member', 'max@acme.example');
    for (const who of [mia, ada]) {
      const chat = await start(mia, 'Stop me');
      const path = `/chats/${chat.id}`;
      expect((await max.browser.get(path)).text).not.toContain('/cancel');
      const fields = { csrf: await max.browser.csrf('/chats/new') };
      expect((await max.browser.post(`${path}/cancel`, fields)).status).toBe(403);
      expect((await place.workspace.chats.get(chat.id))?.status).toBe('running');
      const sent = await who.browser.submit(path, {}, `${path}/cancel`);
      expect([sent.status, sent.headers.location]).toEqual([303, path]);
      expect((await place.workspace.chats.get(chat.id))?.status).toBe('cancelled');
      const text = await read(mia, path);
      expect(text).toContain('Cancelled.');
      expect((await mia.browser.get(path)).text).not.toContain('/cancel');
    }
  });

  it('stop the agent for a reply that asks for it, and let the incident wait on a person again', async () => {
    const incident = await place.workspace.incidents.create(
      { title: 'x', severity: 'low', source: 'test', startedAt: new Date(), waitingOn: { party: 'agent' } },
      operator,
    );
    const asked = await mia.browser.submit(`/chats/new?incident=${incident.key}`, { message: 'Why?' }, '/chats/new');
    const path = asked.headers.location ?? '';
    await mia.browser.submit(path, { message: 'Stop!' });
    expect(await read(mia, path)).toContain('Cancelled.');
    expect((await place.workspace.incidents.get(incident.id))?.waitingOn).toMatchObject({
      party: 'human',
      reason: 'The investigation was cancelled: decide on the next step',
    });
  });

  it('say what the agent does just now', async () => {
    const chat = await start(mia, 'What do you do?');
    const now = new Date(Date.now() + 1_000);
    const lease = { holder: 'w', now, until: new Date(now.getTime() + 60_000) };
    const [investigation] = await place.workspace.investigations.ofChat(chat.id);
    if (investigation === undefined) throw new Error('nothing was queued');
    while ((await place.site.storage.directory.claimInvestigation(lease))?.id !== investigation.id);
    await place.workspace.investigations.progress(investigation.id, 'Who fails more than before?');
    expect(await read(mia, `/chats/${chat.id}`)).toContain('Who fails more than before?');
  });

  it('say which incident one is about', async () => {
    const incident = await place.workspace.incidents.create(
      { title: 'Checkout fails', severity: 'high', source: 'test', startedAt: new Date() },
      operator,
    );
    expect(await read(mia, `/chats/new?incident=${incident.key}`)).toContain(`About ${incident.key}: Checkout fails`);
    const asked = await mia.browser.submit(`/chats/new?incident=${incident.key}`, { message: 'Why?' });
    expect(await read(ada, asked.headers.location ?? '')).toContain(`About ${incident.key}: Checkout fails`);
  });

  it('show whatever others wrote as text', async () => {
    const chat = await start(ada, hostile);
    await answer(chat, `${hostile} [x](javascript:alert(1))`, [
      { type: 'finding', evidence_id: hostile, text: hostile },
      { type: 'query', evidence_id: hostile, sql: `</code>${hostile}` },
      { type: 'question', text: hostile },
    ]);
    for (const path of ['/chats', `/chats/${chat.id}`]) {
      const { text } = await mia.browser.get(path);
      expect(text).not.toContain('<img src=x');
      expect(text).not.toMatch(/href="javascript:/);
      expect(readable(text)).toContain('<img src=x onerror=alert(1)>');
    }
  });
});
