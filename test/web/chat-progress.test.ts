import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { evidenceLead } from '../../src/contract/agent/index.ts';
import type { Actor, Chat, InvestigationStep } from '../../src/contract/storage/index.ts';
import { readable } from '../support/person.ts';
import { engine, openWorkplace, type Colleague, type Workplace } from './support/workplace.ts';

const agent: Actor = { kind: 'agent', id: engine, name: 'agent' };
const step = {
  seq: 1,
  question: 'Who fails more than before?',
  sql: 'SELECT service_name FROM otel.spans',
  dialect: 'duckdb',
  window: { start: '2026-01-01T00:00:00.000Z', end: '2026-01-01T01:00:00.000Z' },
  columns: ['service_name', 'name', 'spans', 'errors', 'spans_before', 'errors_before'],
  rows: [['payment', 'Charge', '94', '23', '180', '1']],
  row_count: 1,
  observation: '`payment` `Charge` fails 24 % of 94.',
  verdict: 'supports',
  evidence_id: 'E1',
  elapsed_ms: 1,
  recorded_at: '2026-01-01T01:00:00.000Z',
} as const satisfies InvestigationStep;

describe('a chat while the agent works, and what its answer rests on', () => {
  let place: Workplace;
  let ada: Colleague;
  let mia: Colleague;
  beforeAll(async () => {
    place = await openWorkplace();
    ada = await place.enter('admin', 'ada@acme.example');
    mia = await place.enter('member', 'mia@acme.example');
  });
  afterAll(() => place.close());

  /** Asked by Mia, and begun by the worker. */
  async function begun(message: string): Promise<{ chat: Chat; path: string; id: Chat['id'] }> {
    const author: Actor = { kind: 'user', id: mia.user.id, name: mia.user.email };
    const { chat } = await place.workspace.chats.start({ title: message, message, author, engine });
    const now = new Date(Date.now() + 1_000);
    const lease = { holder: 'w', now, until: new Date(now.getTime() + 60_000) };
    const [queued] = await place.workspace.investigations.ofChat(chat.id);
    while ((await place.site.storage.directory.claimInvestigation(lease))?.id !== queued?.id);
    return { chat, path: `/chats/${chat.id}`, id: chat.id };
  }

  const running = async (id: Chat['id']) => {
    const [found] = await place.workspace.investigations.ofChat(id);
    if (found === undefined) throw new Error('nothing was queued');
    return found;
  };

  async function finish(id: Chat['id'], message: string, text = step.observation): Promise<void> {
    const conclusion = {
      root_cause: 'payment fails',
      category: 'errors',
      service: 'payment',
      confidence: 'high',
      claims: [{ text, status: 'supported', evidence_ids: ['E1'] }],
    } as const;
    await place.workspace.investigations.finish((await running(id)).id, {
      status: 'completed',
      conclusion,
      message,
      author: agent,
      parts: [
        { type: 'finding', evidence_id: 'E1', text },
        { type: 'query', evidence_id: 'E1', sql: step.sql },
      ],
    });
  }

  const page = async ({ browser }: Colleague, path: string): Promise<string> => (await browser.get(path)).text;

  it('shows what was seen so far, and is loaded again without script', async () => {
    const { path, id } = await begun('Why?');
    await place.workspace.investigations.addStep((await running(id)).id, step);
    const text = await page(mia, path);
    expect(readable(text)).toContain('payment Charge fails 24 % of 94. (E1)');
    expect(text).toMatch(/<noscript><meta http-equiv="refresh" content="\d+"/);
    // Where somebody writes, nothing is loaded again.
    const writing = await page(mia, `${path}?write=yes`);
    expect(writing).not.toContain('http-equiv="refresh"');
    expect(writing).toMatch(/<div id="reply"[^>]*>\s*<div class="card">/);
  });

  it('tells of each change until the answer is there', async () => {
    const { path, id } = await begun('How long?');
    const [news] = await Promise.all([
      mia.browser.get(`${path}/news`, { accept: 'text/event-stream' }),
      (async () => {
        await place.workspace.investigations.progress((await running(id)).id, 'Looking at payment');
        await new Promise((resolve) => setTimeout(resolve, 2_500));
        await finish(id, 'Done.');
      })(),
    ]);
    expect(news.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const changes = news.text.match(/^event: changed$/gm) ?? [];
    expect(changes.length).toBeGreaterThanOrEqual(2);
    expect(changes.length).toBeLessThanOrEqual(4);
    // One who comes later is told once.
    expect((await mia.browser.get(`${path}/news`)).text.match(/^event:/gm)).toHaveLength(1);
    const answered = await page(mia, path);
    expect(answered).not.toContain('data-live');
    expect(answered).not.toContain('http-equiv="refresh"');
  });

  it('tells nobody of another organization, and nobody who is not signed in', async () => {
    const { path } = await begun('Whose?');
    const eve = await place.enter('admin', 'eve@globex.example', place.elsewhere);
    expect((await eve.browser.get(`${path}/news`)).status).toBe(404);
    expect((await place.site.browser().get(`${path}/news`)).status).toBe(303);
  });

  it('lets a script ask only where something is to come', async () => {
    const { path, id } = await begun('What may it?');
    const policy = async () => (await mia.browser.get(path)).headers['content-security-policy'];
    expect(await policy()).toContain("connect-src 'self'");
    await finish(id, 'Done.');
    expect(await policy()).not.toContain('connect-src');
  });

  it('draws what the answer rests on, and folds the evidence', async () => {
    const { path, id } = await begun('Show me');
    await place.workspace.investigations.addStep((await running(id)).id, step);
    await finish(id, `**payment fails**\n\n${evidenceLead}\n- E1: the long observation`);
    const text = await page(ada, path);
    expect(text).toMatch(/<figcaption>Failing<\/figcaption>\s*<svg/);
    expect(text).toMatch(/<details>\s*<summary>Evidence and its SQL<\/summary>[\s\S]*the long observation/);
    // In its card, and not once more as a list.
    expect(text).not.toContain('<h3>Findings</h3>');
  });

  it('offers what is usually asked next, to who may ask', async () => {
    const { path, id } = await begun('Why do checkouts fail?');
    await finish(id, 'payment fails');
    expect(await page(ada, path)).not.toContain('aria-label="Ask on"');
    const sent = await mia.browser.submit(path, { message: 'When did it start?' });
    expect(sent.status).toBe(303);
    expect(readable(await page(mia, path))).toContain('When did it start?');
    await finish(id, 'At noon.');
    const offered = [...(await page(mia, path)).matchAll(/name="message" value="([^"]+)"/g)].map(([, text]) => text);
    expect(offered).toContain('Who is affected?');
    expect(offered).not.toContain('When did it start?');
  });
});
