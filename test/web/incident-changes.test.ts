import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Incident, NewIncident } from '../../src/contract/storage/index.ts';
import { readable } from '../support/person.ts';
import { engine, openWorkplace, operator, type Colleague, type Workplace } from './support/workplace.ts';

describe('the page where an incident is changed', () => {
  let place: Workplace;
  let mia: Colleague;
  beforeAll(async () => {
    place = await openWorkplace();
    mia = await place.enter('member', 'mia@acme.example');
  });
  afterAll(() => place.close());

  const create = (more: Partial<NewIncident> = {}): Promise<Incident> =>
    place.workspace.incidents.create(
      { title: 'Checkout fails', severity: 'high', source: 'test', startedAt: new Date(), ...more },
      operator,
    );
  const stands = ({ updatedAt, status, severity, waitingOn }: Incident) => ({
    seen: String(updatedAt.getTime()),
    status,
    severity,
    assignee: '',
    party: waitingOn.party,
    name: waitingOn.name ?? '',
    reason: waitingOn.reason ?? '',
    resolution: '',
    duplicate_of: '',
  });
  const change = (incident: Incident, fields: object, who = mia) =>
    who.browser.submit(`/incidents/${incident.key}/change`, { ...stands(incident), ...fields });
  const now = (incident: Incident) => place.workspace.incidents.get(incident.id);
  const text = async (path: string) => readable((await mia.browser.get(path)).text);

  it('is reached from the incident, and takes status, severity, assignee and whom it waits on', async () => {
    const incident = await create();
    expect((await mia.browser.get(`/incidents/${incident.key}`)).text).toContain(`/incidents/${incident.key}/change`);
    const sent = await change(incident, {
      status: 'mitigated',
      severity: 'low',
      assignee: 'mia@acme.example',
      party: 'external',
      name: 'Stripe',
      reason: 'Their status page says so',
    });
    expect([sent.status, sent.headers.location]).toEqual([303, `/incidents/${incident.key}`]);
    expect(await now(incident)).toMatchObject({
      status: 'mitigated',
      severity: 'low',
      assignee: 'mia@acme.example',
      waitingOn: { party: 'external', name: 'Stripe', reason: 'Their status page says so' },
    });
    const timeline = await place.workspace.incidents.timeline(incident.id);
    expect(new Set(timeline.slice(1).map(({ actor }) => actor.name))).toEqual(new Set(['mia@acme.example']));
    expect(timeline.slice(1).map(({ change: what }) => what)).toEqual(['status', 'waiting_on', 'severity', 'assignee']);
  });

  it('takes no address that is not a member’s', async () => {
    const incident = await create();
    for (const fields of [{ assignee: 'nobody@x.example' }, { party: 'human', name: 'nobody@x.example' }]) {
      const refused = await change(incident, fields);
      expect([refused.status, readable(refused.text)]).toEqual([
        400,
        expect.stringContaining('No member has the address'),
      ]);
    }
    expect(await now(incident)).toEqual(incident);
  });

  it('takes how it ended, which the incident then shows', async () => {
    const [original, incident] = [await create(), await create({ waitingOn: { party: 'human' } })];
    await change(incident, { status: 'resolved', resolution: 'duplicate', duplicate_of: original.key });
    expect(await now(incident)).toMatchObject({
      status: 'resolved',
      resolution: { kind: 'duplicate', duplicateOf: original.key },
      waitingOn: { party: 'none' },
    });
    expect(await text(`/incidents/${incident.key}`)).toContain(`Duplicate of ${original.key}`);
  });

  it('says what is wrong and changes nothing', async () => {
    const incident = await create();
    for (const [fields, said] of [
      [{ resolution: 'fixed' }, 'has no resolution yet'],
      [{ status: 'resolved', resolution: 'duplicate' }, 'names the incident that it repeats'],
      [{ status: 'resolved', resolution: 'duplicate', duplicate_of: 'INC-999' }, 'does not exist'],
      [{ status: 'resolved', party: 'human' }, 'waits on nobody'],
    ] as const) {
      const sent = await change(incident, fields);
      expect(sent.status).toBeGreaterThanOrEqual(400);
      expect(readable(sent.text)).toContain(said);
    }
    expect(await now(incident)).toEqual(incident);
    const madeUp = await mia.browser.submit(`/incidents/${incident.key}/change`, {
      ...stands(incident),
      status: 'gone',
    });
    expect(madeUp.status).toBe(400);
  });

  it('does not write over what somebody else changed meanwhile', async () => {
    const incident = await create();
    await place.workspace.incidents.update(incident.id, { severity: 'critical' }, operator);
    const sent = await change({ ...incident, updatedAt: new Date(1) }, { status: 'resolved' });
    expect(sent.status).toBe(409);
    expect(readable(sent.text)).toContain('Somebody changed the incident meanwhile.');
    expect(await now(incident)).toMatchObject({ status: 'triage', severity: 'critical' });
  });

  it('takes nothing without the proof that the form is ours, and knows no incident of another organization', async () => {
    const incident = await create();
    const path = `/incidents/${incident.key}/change`;
    const forged = await mia.browser.post(path, { ...stands(incident), severity: 'low', csrf: 'x' });
    expect(forged.status).toBe(403);
    const eve = await place.enter('admin', 'eve@globex.example', place.elsewhere);
    expect((await eve.browser.get(path)).status).toBe(404);
    const fields = { ...stands(incident), csrf: await eve.browser.csrf('/chats/new'), severity: 'low' };
    expect((await eve.browser.post(path, fields)).status).toBe(404);
    expect(await now(incident)).toEqual(incident);
  });

  it('has beside it every version of the document', async () => {
    const incident = await create({ document: 'The first.' });
    await place.workspace.incidents.writeDocument(incident.id, 'The second.', operator);
    const path = `/incidents/${incident.key}/document`;
    expect((await mia.browser.get(`/incidents/${incident.key}`)).text).toContain(`href="${path}"`);
    expect(await text(path)).toContain('The second.');
    const first = await text(`${path}?version=1`);
    expect(first).toContain('The first.');
    expect(first).not.toContain('The second.');
    expect(await text(`${path}?version=9`)).toContain('There is no such version.');
  });

  it('has beside it the whole of a question that an alert led to, which is answered there', async () => {
    const incident = await create();
    const { id } = await place.workspace.investigations.enqueue({ incidentId: incident.id, engine });
    const question = `Which region? ${'It matters. '.repeat(60)}The end.`;
    const agent = { kind: 'agent', id: engine, name: engine } as const;
    await place.workspace.investigations.finish(id, { status: 'waiting', message: question, author: agent });
    await place.workspace.incidents.update(
      incident.id,
      { waitingOn: { party: 'human', reason: 'Which region?' } },
      agent,
    );
    expect(await text(`/incidents/${incident.key}`)).toContain('The end.');
    const sent = await mia.browser.submit(`/incidents/${incident.key}`, { message: 'eu-west' }, '/chats/new');
    const [answered, ...more] = await place.workspace.investigations.ofIncident(incident.id);
    expect(more).toEqual([]);
    expect(answered).toMatchObject({ id, status: 'queued' });
    expect(sent.headers.location).toBe(`/chats/${answered?.chatId}`);
    expect(await text(sent.headers.location ?? '')).toContain('The end.');
  });
});
