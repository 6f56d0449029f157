import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Incident, InvestigationStep, NewIncident } from '../../src/contract/storage/index.ts';
import { readable } from '../support/person.ts';
import { engine, openWorkplace, operator, type Colleague, type Workplace } from './support/workplace.ts';

const hostile = '<img src=x onerror=alert(1)>"\'&';

describe('the pages of incidents', () => {
  let place: Workplace;
  let ada: Colleague;
  let mia: Colleague;
  let minute = 0;
  beforeAll(async () => {
    place = await openWorkplace();
    ada = await place.enter('admin', 'ada@acme.example');
    mia = await place.enter('member', 'mia@acme.example');
  });
  afterAll(() => place.close());

  const create = (more: Partial<NewIncident>): Promise<Incident> => {
    minute += 1;
    const startedAt = new Date(Date.UTC(2026, 10, 1, 0, minute));
    const incident: NewIncident = { title: 'Checkout fails', severity: 'high', source: 'test', startedAt };
    return place.workspace.incidents.create({ ...incident, ...more }, operator);
  };
  const read = async ({ browser }: Colleague, path: string) => readable((await browser.get(path)).text);

  const step: InvestigationStep = {
    seq: 1,
    evidence_id: 'E1',
    question: 'Did errors rise?',
    sql: 'SELECT count(*) FROM otel.spans',
    dialect: 'duckdb',
    window: { start: '2026-11-01T00:00:00Z', end: '2026-11-01T01:00:00Z' },
    columns: ['service', 'errors'],
    rows: Array.from({ length: 12 }, (_value, index) => [`service-${index}`, index]),
    row_count: 12,
    observation: 'Errors of `payment` rose.',
    verdict: 'supports',
    elapsed_ms: 4,
    recorded_at: '2026-11-01T01:00:00Z',
  };

  describe('the list', () => {
    it('shows whom each waits on, and to that person why', async () => {
      await create({
        title: 'Disk full',
        waitingOn: { party: 'human', name: 'Ada@Acme.example', reason: 'Grow the disk?' },
      });
      expect(await read(ada, '/incidents')).toContain('you Grow the disk?');
      const others = await read(mia, '/incidents');
      expect(others).toContain('Ada@Acme.example');
      expect(others).not.toContain('Grow the disk?');
    });

    it('filters by status and by who is waited on', async () => {
      await create({ title: 'Long gone', status: 'resolved', waitingOn: { party: 'none' } });
      expect(await read(ada, '/incidents')).toContain('Long gone');
      expect(await read(ada, '/incidents?status=open')).not.toContain('Long gone');
      expect(await read(ada, '/incidents?status=resolved')).toContain('Long gone');
      expect(await read(ada, '/incidents?status=open')).toContain('Disk full');
      expect(await read(ada, '/incidents?waiting=me')).toContain('Disk full');
      expect(await read(mia, '/incidents?waiting=me')).toContain('No incident matches.');
      expect(await read(ada, '/incidents?status=nonsense')).toContain('Long gone');
    });

    it('leads through all of them, twenty-five at a time, with the filter', async () => {
      for (let count = 0; count < 30; count += 1) await create({ title: `Many ${count}`, status: 'mitigated' });
      const seen = new Set<string>();
      let path: string | undefined = '/incidents?status=mitigated';
      for (let pages = 0; path !== undefined && pages < 5; pages += 1) {
        const { text } = await ada.browser.get(path);
        for (const [title] of text.matchAll(/Many \d+/g)) seen.add(title);
        path = /href="([^"]*after=[^"]*)"/.exec(text)?.[1]?.replaceAll('&#38;', '&').replaceAll('&amp;', '&');
      }
      expect(seen.size).toBe(30);
      expect((await ada.browser.get('/incidents?after=nonsense')).status).toBe(400);
    });
  });

  describe('one', () => {
    it('says first that it waits on who looks at it, and why', async () => {
      const { key } = await create({ waitingOn: { party: 'human', name: 'ada@acme.example', reason: 'Roll back?' } });
      const page = await read(ada, `/incidents/${key}`);
      expect(page).toContain('This incident waits on you Roll back?');
      expect(page.indexOf('This incident waits on you')).toBeLessThan(page.indexOf('Severity'));
      expect(await read(mia, `/incidents/${key}`)).not.toContain('This incident waits on');
    });

    it('says to everybody that it waits on anybody', async () => {
      const { key } = await create({ waitingOn: { party: 'human', reason: 'Who knows payment?' } });
      for (const person of [ada, mia]) {
        expect(await read(person, `/incidents/${key}`)).toContain(
          'This incident waits on anybody of this organization Who knows payment?',
        );
      }
    });

    it('takes the answer of who it waits on to the agent, as a chat about it', async () => {
      const incident = await create({ waitingOn: { party: 'human', name: 'ada@acme.example', reason: 'Since when?' } });
      const before = place.woken;
      const path = `/incidents/${incident.key}`;
      const answer = await ada.browser.submit(path, { message: 'Since 14:00, only payment' }, '/chats/new');
      expect(answer.headers.location).toMatch(/^\/chats\/chat_/);
      const { items } = await place.workspace.chats.list({ incidentId: incident.id, limit: 10 });
      expect(items.map(({ title, createdBy }) => [title, createdBy])).toEqual([
        ['Since 14:00, only payment', { kind: 'user', id: ada.user.id, name: 'ada@acme.example' }],
      ]);
      expect(place.woken).toBe(before + 1);
      expect(await place.workspace.investigations.ofIncident(incident.id)).toHaveLength(1);
    });

    it('takes the answer into the chat in which the agent asked', async () => {
      const incident = await create({
        waitingOn: { party: 'human', name: 'ada@acme.example', reason: 'Which region?' },
      });
      const author = { kind: 'user', id: ada.user.id, name: ada.user.email } as const;
      const asked = { title: 'Why?', message: 'Why?', author, engine, incidentId: incident.id };
      const { chat } = await place.workspace.chats.start(asked);
      const [investigation] = await place.workspace.investigations.ofChat(chat.id);
      if (investigation === undefined) throw new Error('nothing was queued');
      const agent = { kind: 'agent', id: engine, name: 'agent' } as const;
      await place.workspace.investigations.finish(investigation.id, {
        status: 'waiting',
        message: 'Which region?',
        author: agent,
      });

      const path = `/incidents/${incident.key}`;
      expect(await read(ada, path)).toContain('The agent asked you in the chat Why?');
      const answer = await ada.browser.submit(path, { message: 'eu-west-1' }, `/chats/${chat.id}`);
      expect(answer.headers.location).toBe(`/chats/${chat.id}`);
      const messages = await place.workspace.chats.messages(chat.id, { limit: 10 });
      expect(messages.map(({ content }) => content)).toEqual(['Why?', 'Which region?', 'eu-west-1']);
    });

    it('shows its document, its alerts and its timeline', async () => {
      const { id, key } = await create({
        summary: 'Payments are declined.',
        services: ['payment', 'checkout'],
        environment: 'production',
        document: '# Seen\n\n**Errors** since `14:00`, [runbook](https://wiki.example/payment)',
        alerts: [
          {
            fingerprint: 'a',
            title: 'Error rate',
            status: 'firing',
            severity: 'high',
            startsAt: new Date('2026-11-01T00:00:00Z'),
            labels: { team: 'payments' },
            url: 'https://alerts.example/1',
          },
        ],
      });
      await place.workspace.incidents.update(id, { severity: 'critical' }, operator);
      const { text } = await ada.browser.get(`/incidents/${key}`);
      expect(text.replaceAll(/\s+/g, ' ')).toContain(
        '<h3>Seen</h3><p><strong>Errors</strong> since <code>14:00</code>',
      );
      const page = readable(text);
      for (const part of [
        'Payments are declined.',
        'payment, checkout',
        'runbook (wiki.example)',
        'Error rate Open at alerts.example Firing High',
        'team=payments',
        'Tester severity high → critical',
        'Nothing has been investigated yet.',
      ]) {
        expect(page).toContain(part);
      }
    });

    it('shows what the investigation found, and the evidence on a page of its own', async () => {
      const { id, key } = await create({});
      const { id: investigation } = await place.workspace.investigations.enqueue({ incidentId: id, engine });
      await place.workspace.investigations.addStep(investigation, step);
      const author = { kind: 'agent', id: engine, name: 'agent' } as const;
      await place.workspace.investigations.finish(investigation, {
        status: 'completed',
        message: 'Done',
        author,
        conclusion: {
          root_cause: 'A release of `payment`',
          category: 'release',
          service: 'payment',
          confidence: 'high',
          claims: [
            { text: 'Errors rose', status: 'supported', evidence_ids: ['E1'] },
            { text: 'the cache is cold', status: 'hypothesis', evidence_ids: [] },
          ],
          not_checked: ['the network'],
          suspects: ['payment', 'cart'],
          suspicions: [
            {
              service: 'cart',
              why: 'It logs `evicted`.',
              why_not: 'None of its operations fails.',
              evidence_ids: ['E1'],
            },
          ],
        },
      });
      const page = await read(ada, `/incidents/${key}`);
      for (const part of [
        'completed',
        'A release of payment',
        'high',
        'Errors rose (E1)',
        'Perhaps: the cache is cold',
        'Not checked: the network',
        'Against it: None of its operations fails. (E1)',
      ]) {
        expect(page).toContain(part);
      }
      const evidence = await read(ada, `/incidents/${key}/evidence`);
      for (const part of ['E1: Did errors rise?', 'Supports it', step.sql, '12 rows, the first 10', 'service-9 9']) {
        expect(evidence).toContain(part);
      }
      expect(evidence).not.toContain('service-10');

      // The agent's document tells the same in other words, and is folded; what a person wrote is not.
      const isOpen = async () =>
        /<details\s+open>\s*<summary>Document/.test((await ada.browser.get(`/incidents/${key}`)).text);
      await place.workspace.incidents.writeDocument(id, 'Errors rose.', author);
      expect(await isOpen()).toBe(false);
      await place.workspace.incidents.writeDocument(id, 'We called the bank.', operator);
      expect(await isOpen()).toBe(true);
    });

    it('shows whatever others wrote as text', async () => {
      const { id, key } = await create({
        title: hostile,
        summary: hostile,
        services: [hostile],
        environment: hostile,
        assignee: hostile,
        labels: { label: hostile },
        waitingOn: { party: 'external', name: hostile, reason: hostile },
        document: `${hostile}\n\n[x](javascript:alert(1))`,
        alerts: [
          {
            fingerprint: 'a',
            title: hostile,
            status: 'firing',
            severity: 'low',
            startsAt: new Date(),
            labels: { label: hostile },
            url: 'javascript:alert(1)',
          },
        ],
      });
      const { id: investigation } = await place.workspace.investigations.enqueue({ incidentId: id, engine });
      await place.workspace.investigations.addStep(investigation, {
        ...step,
        question: hostile,
        observation: hostile,
        sql: hostile,
        columns: [hostile],
        rows: [[hostile]],
        error: hostile,
      });
      const claims = [{ text: hostile, status: 'supported' as const, evidence_ids: [hostile] }];
      const author = { kind: 'agent', id: engine, name: hostile } as const;
      await place.workspace.investigations.finish(investigation, {
        status: 'completed',
        message: hostile,
        author,
        conclusion: {
          root_cause: hostile,
          category: hostile,
          service: hostile,
          confidence: 'low',
          claims,
          not_checked: [hostile],
        },
      });
      for (const path of ['/incidents', `/incidents/${key}`, `/incidents/${key}/evidence`]) {
        const { status, text } = await ada.browser.get(path);
        expect(status).toBe(200);
        expect(text).not.toContain('<img src=x');
        expect(text).not.toMatch(/href="javascript:/);
        expect(readable(text)).toContain('<img src=x onerror=alert(1)>');
      }
    });
  });
});
