import { newId } from '../../../src/contract/core/index.ts';
import {
  alertRules,
  type AlertDelivery,
  type Incident,
  type Storage,
  type Workspace,
} from '../../../src/contract/storage/index.ts';
import { untitledAlert, type AlertNotice } from '../../../src/contract/alerts/index.ts';
import type { Runner } from '../runner.ts';
import {
  ada,
  agent,
  awkward,
  bob,
  inTurn,
  later,
  type MakeStorage,
  newIncident,
  present,
  refusal,
  sharedStage,
} from './stage.ts';

const minute = 60_000;
const source = { id: newId('als'), name: 'Alertmanager' };
const other = { id: newId('als'), name: 'Datadog' };
const began = Date.now() - 2 * minute;

function firing(fingerprint: string, overrides: Partial<AlertNotice> = {}): AlertNotice {
  return {
    fingerprint,
    status: 'firing',
    title: `Alert ${fingerprint}`,
    severity: 'high',
    startsAt: new Date(began),
    labels: {},
    services: ['checkout'],
    environment: 'production',
    ...overrides,
  };
}

/** The end of what `firing` began. */
function ended(fingerprint: string, overrides: Partial<AlertNotice> = {}): AlertNotice {
  return firing(fingerprint, { status: 'resolved', endsAt: new Date(began + minute), ...overrides });
}

/** So much later, the same alert again. */
function again(fingerprint: string, afterMs: number, overrides: Partial<AlertNotice> = {}): AlertNotice {
  return firing(fingerprint, { startsAt: new Date(began + afterMs), ...overrides });
}

/** Alerts: they are kept once, come in any order, make few incidents, and never overrule a person. */
export function alertPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  const send = ({ alerts }: Workspace, ...notices: AlertNotice[]) => alerts.record([{ source, notices }], 'playbook');
  const incidentsOf = async ({ incidents }: Workspace): Promise<readonly Incident[]> =>
    (await incidents.list({ limit: 100 })).items.toSorted((one, two) => one.number - two.number);
  const only = async (workspace: Workspace): Promise<Incident> => {
    const all = await incidentsOf(workspace);
    expect(all).toHaveLength(1);
    return present(all[0]);
  };

  describe('alerts', () => {
    const stage = sharedStage(runner, make);
    /** The same organization, seen by a gateway that lives so much later. */
    const laterIn = async ({ organizationId }: Workspace, milliseconds: number): Promise<Workspace> => {
      const storage: Storage = await stage().open(later(milliseconds));
      return storage.workspace(organizationId);
    };

    it('open an incident that is investigated, and come back field by field', async () => {
      const [here, there] = await stage().workspaces();
      const notice = firing(awkward, {
        title: awkward,
        description: awkward,
        severity: 'critical',
        labels: { [awkward]: awkward },
        url: 'https://example.org/a?b=c',
        services: ['checkout', awkward],
        environment: awkward,
        group: awkward,
      });
      expect(await send(here, notice)).toEqual({ opened: ['INC-1'], reopened: [], resolved: [], queued: 1 });
      const incident = await only(there);
      expect(incident).toMatchObject({
        title: awkward,
        summary: awkward,
        status: 'triage',
        severity: 'critical',
        services: ['checkout', awkward],
        environment: awkward,
        source: source.name,
        labels: notice.labels,
        startedAt: notice.startsAt,
        waitingOn: { party: 'agent' },
      });
      const { fingerprint, title, description, status, severity, startsAt, labels, url } = notice;
      expect(await there.alerts.ofIncident(incident.id)).toEqual({
        listed: [{ fingerprint, title, description, status, severity, startsAt, labels, url }],
        total: 1,
        active: 1,
      });
      expect(await there.investigations.ofIncident(incident.id)).toMatchObject([
        { status: 'queued', engine: 'playbook', incidentId: incident.id },
      ]);
      expect(await there.incidents.timeline(incident.id)).toMatchObject([
        { change: 'created', actor: { kind: 'alert', id: source.id, name: source.name } },
      ]);
      expect((await there.incidents.list({ limit: 10, service: awkward })).items).toHaveLength(1);
    });

    it('change nothing when they are sent again, by whichever gateway', async () => {
      const [here, there] = await stage().workspaces();
      const sent = [firing('a'), firing('b'), firing('a', { title: 'A', severity: 'critical' })];
      await send(here, ...sent);
      const before = await only(here);
      const listed = await here.alerts.ofIncident(before.id);
      for (const workspace of [here, there]) {
        expect(await send(workspace, present(sent[2]), present(sent[1]))).toMatchObject({ opened: [], queued: 0 });
      }
      expect(await only(there)).toEqual(before);
      expect(await there.alerts.ofIncident(before.id)).toEqual(listed);
      expect(listed).toMatchObject({ total: 2, listed: [{ title: 'A' }, { title: 'Alert b' }] });
    });

    it('of one fingerprint from two sources are two', async () => {
      const workspace = await stage().workspace();
      const notices = [firing('same')];
      await workspace.alerts.record(
        [
          { source, notices },
          { source: other, notices },
        ],
        'e',
      );
      const { id } = await only(workspace);
      expect((await workspace.alerts.ofIncident(id)).total).toBe(2);
    });

    it('of the same services and environment are one incident, within a window', async () => {
      const workspace = await stage().workspace();
      await send(workspace, firing('a', { services: ['Cart', 'checkout'] }));
      await send(workspace, firing('b', { services: ['checkout', 'cart'], environment: 'Production' }));
      expect(await incidentsOf(workspace)).toHaveLength(1);
      await send(workspace, firing('c', { environment: 'staging' }), firing('d', { services: ['cart'] }));
      expect(await incidentsOf(workspace)).toHaveLength(3);
      const afterwards = await laterIn(workspace, alertRules.windowMs + minute);
      await send(afterwards, firing('e', { services: ['cart', 'checkout'] }));
      expect(await incidentsOf(workspace)).toHaveLength(4);
    });

    it('of one group of the sender are one incident, however long it is open, and it gets their services', async () => {
      const workspace = await stage().workspace();
      await send(workspace, firing('a', { group: 'g', services: ['one'] }));
      const afterwards = await laterIn(workspace, 10 * alertRules.windowMs);
      await send(afterwards, firing('b', { group: 'g', services: ['two'] }));
      expect((await only(workspace)).services).toEqual(['one', 'two']);
      await workspace.alerts.record(
        [{ source: other, notices: [firing('b', { group: 'g', services: ['three'] })] }],
        'e',
      );
      expect(await incidentsOf(workspace)).toHaveLength(2);
    });

    it('without services are one incident a group, or a title of their source', async () => {
      const workspace = await stage().workspace();
      const none = { services: [] };
      await send(workspace, firing('a', none), firing('b', none), firing('c', { ...none, title: 'Alert a' }));
      await send(workspace, firing('d', { ...none, group: 'g' }), firing('e', { ...none, group: 'g' }));
      await send(workspace, firing('f', { ...none, group: 'h', title: 'Alert a' }));
      expect((await incidentsOf(workspace)).map(({ title }) => title)).toEqual([
        'Alert a',
        'Alert b',
        'Alert d',
        'Alert a',
      ]);
    });

    it('are acknowledged by their fingerprint alone, and nothing is opened by that', async () => {
      const workspace = await stage().workspace();
      const bare = { status: 'acknowledged', title: untitledAlert, severity: 'unknown', services: [] } as const;
      await send(workspace, firing('b', bare));
      expect(await incidentsOf(workspace)).toEqual([]);
      await send(workspace, firing('a'));
      await send(workspace, firing('a', bare));
      const { id } = await only(workspace);
      const { listed } = await workspace.alerts.ofIncident(id);
      expect(listed).toMatchObject([{ title: 'Alert a', severity: 'high', status: 'acknowledged' }]);
      expect((await only(workspace)).status).toBe('investigating');
    });

    it('join what a person opened, which stays theirs to close', async () => {
      const workspace = await stage().workspace();
      await workspace.incidents.create(newIncident({ services: ['checkout'], environment: 'production' }), ada);
      await send(workspace, firing('a', { severity: 'critical' }));
      await send(workspace, ended('a'));
      expect(await only(workspace)).toMatchObject({ status: 'triage', severity: 'critical' });
    });

    it('that are ended resolve their incident, the last of them', async () => {
      const workspace = await stage().workspace();
      await send(workspace, firing('a'), firing('b'));
      expect(await send(workspace, ended('a'))).toMatchObject({ resolved: [] });
      expect((await only(workspace)).status).toBe('triage');
      expect(await send(workspace, ended('b'))).toMatchObject({ resolved: ['INC-1'] });
      const incident = await only(workspace);
      expect(incident).toMatchObject({
        status: 'resolved',
        resolution: { kind: 'self_recovered' },
        waitingOn: { party: 'none' },
      });
      expect(await workspace.alerts.ofIncident(incident.id)).toMatchObject({
        total: 2,
        active: 0,
        listed: [{ status: 'resolved', endsAt: new Date(began + minute) }, {}],
      });
      const changes = (await workspace.incidents.timeline(incident.id)).map(({ change }) => change);
      expect(changes).toContain('resolution');
      expect(await send(workspace, ended('a'), ended('b'), firing('a'))).toMatchObject({ opened: [], reopened: [] });
      expect(await only(workspace)).toEqual(incident);
    });

    it('that flap stay in one incident, and one investigation', async () => {
      const workspace = await stage().workspace();
      for (let round = 1; round <= 10; round += 1) {
        const at = round * 5_000;
        await send(workspace, again('flap', at));
        await send(workspace, ended('flap', { startsAt: new Date(began + at), endsAt: new Date(began + at + 1_000) }));
      }
      const incident = await only(workspace);
      expect(incident.status).toBe('resolved');
      expect(await workspace.investigations.ofIncident(incident.id)).toHaveLength(1);
      await send(workspace, again('flap', 2 * minute));
      expect(await only(workspace)).toMatchObject({ status: 'investigating', waitingOn: { party: 'agent' } });
    });

    it('that fire again after the hold open another incident, and the first keeps its own', async () => {
      const workspace = await stage().workspace();
      await send(workspace, firing('a'), ended('a'));
      const afterwards = await laterIn(workspace, alertRules.holdMs + minute);
      expect(await send(afterwards, again('a', 20 * minute))).toMatchObject({ opened: ['INC-2'] });
      const [first, second] = await incidentsOf(workspace);
      expect(await workspace.alerts.ofIncident(present(first).id)).toMatchObject({ total: 1, active: 0 });
      expect(await workspace.alerts.ofIncident(present(second).id)).toMatchObject({ total: 1, active: 1 });
      await send(afterwards, ended('a', { startsAt: new Date(began + 20 * minute), endsAt: new Date() }));
      expect((await incidentsOf(workspace)).map(({ status }) => status)).toEqual(['resolved', 'resolved']);
    });

    it('that end before they begin open nothing, and what is late does not undo what is newer', async () => {
      const workspace = await stage().workspace();
      await send(workspace, ended('a'));
      await send(workspace, firing('a'));
      expect(await incidentsOf(workspace)).toEqual([]);
      await send(workspace, again('a', 90_000));
      const incident = await only(workspace);
      await send(workspace, ended('a'));
      expect(await only(workspace)).toEqual(incident);
    });

    it('that are acknowledged are somebody’s', async () => {
      const workspace = await stage().workspace();
      await send(workspace, firing('a'));
      await send(workspace, firing('a', { status: 'acknowledged' }));
      await send(workspace, firing('a'));
      const incident = await only(workspace);
      expect(incident.status).toBe('investigating');
      expect((await workspace.alerts.ofIncident(incident.id)).listed).toMatchObject([{ status: 'acknowledged' }]);
      await workspace.incidents.update(incident.id, { status: 'triage' }, ada);
      await send(workspace, firing('b', { status: 'acknowledged' }));
      expect((await only(workspace)).status).toBe('triage');
      await send(workspace, ended('a'), ended('b'));
      expect((await only(workspace)).status).toBe('triage');
    });

    it('raise the severity, which people alone lower', async () => {
      const workspace = await stage().workspace();
      await send(workspace, firing('a', { severity: 'unknown' }), firing('b', { severity: 'medium' }));
      const { id } = await only(workspace);
      expect((await only(workspace)).severity).toBe('medium');
      await send(workspace, firing('a', { severity: 'critical' }));
      expect((await only(workspace)).severity).toBe('critical');
      await workspace.incidents.update(id, { severity: 'low' }, ada);
      await send(workspace, firing('a', { severity: 'critical' }), firing('b', { severity: 'medium' }));
      expect((await only(workspace)).severity).toBe('low');
    });

    it('leave a person’s word on the status, unless they fire again', async () => {
      const workspace = await stage().workspace();
      await send(workspace, firing('a'), firing('b'));
      const { id } = await only(workspace);
      for (const [actor, status] of [
        [agent, 'identified'],
        [bob, 'mitigated'],
      ] as const) {
        await workspace.incidents.update(id, { status }, actor);
      }
      await send(workspace, ended('a'), ended('b'));
      expect((await only(workspace)).status).toBe('mitigated');
      await workspace.incidents.update(id, { status: 'resolved' }, ada);
      await send(workspace, firing('b'), firing('a'));
      expect((await only(workspace)).status).toBe('resolved');
      await send(workspace, again('a', 10 * minute));
      expect((await only(workspace)).status).toBe('investigating');
    });

    it('are not held by an incident that was dismissed', async () => {
      const workspace = await stage().workspace();
      await send(workspace, firing('a', { group: 'g' }));
      const { id } = await only(workspace);
      await workspace.incidents.update(id, { status: 'dismissed' }, ada);
      await send(workspace, firing('a', { group: 'g' }));
      expect(await only(workspace)).toMatchObject({ status: 'dismissed' });
      await send(workspace, ended('a', { group: 'g' }), again('a', 10 * minute, { group: 'g' }));
      expect((await incidentsOf(workspace)).map(({ status }) => status)).toEqual(['dismissed', 'triage']);
    });

    it('by the thousand, through two gateways at once, are all there, in few incidents', async () => {
      const [here, there] = await stage().workspaces();
      const storm = Array.from({ length: 20 }, (_, part): AlertDelivery[] => [
        {
          source,
          notices: Array.from({ length: 100 }, (_each, index) =>
            firing(`${part} ${index}`, { services: [`service ${index % 4}`] }),
          ),
        },
      ]);
      await Promise.all(storm.map((part, index) => (index % 2 === 0 ? here : there).alerts.record(part, 'e')));
      const incidents = await incidentsOf(there);
      expect(incidents).toHaveLength(4);
      for (const { id } of incidents) {
        const { listed, total, active } = await there.alerts.ofIncident(id);
        expect([listed.length, total, active]).toEqual([alertRules.listed, 500, 500]);
        expect(await there.investigations.ofIncident(id)).toHaveLength(1);
      }
      const ends = storm.map((part) =>
        part.map((delivery) => ({
          ...delivery,
          notices: delivery.notices.map(({ fingerprint }) => ended(fingerprint)),
        })),
      );
      await Promise.all(ends.map((part, index) => (index % 2 === 0 ? there : here).alerts.record(part, 'e')));
      expect((await incidentsOf(here)).map(({ status }) => status)).toEqual(Array(4).fill('resolved'));
    });

    it('of ever new services stop opening incidents and queueing investigations', async () => {
      const workspace = await stage().workspace();
      const count = alertRules.incidents + 30;
      await send(
        workspace,
        ...Array.from({ length: count }, (_, index) => firing(`${index}`, { services: [`s${index}`] })),
      );
      await send(workspace, firing('one more', { services: ['one more'] }));
      const incidents = await incidentsOf(workspace);
      expect(incidents).toHaveLength(alertRules.incidents);
      expect((await workspace.alerts.ofIncident(present(incidents.at(-1)).id)).total).toBe(32);
      const queued = await inTurn(incidents, async ({ id }) => (await workspace.investigations.ofIncident(id)).length);
      expect(queued.reduce((sum, each) => sum + each, 0)).toBe(alertRules.investigations);
      expect(incidents.filter(({ waitingOn }) => waitingOn.party === 'agent')).toHaveLength(alertRules.investigations);
    });

    it('of a noisy source leave the incidents of another one alone', async () => {
      const workspace = await stage().workspace();
      const { alerts } = workspace;
      const noise = Array.from({ length: alertRules.incidents + 10 }, (_, index) =>
        firing(`${index}`, { services: [`s${index}`] }),
      );
      const own = firing('own', { services: ['billing'] });
      // In one delivery with it and after it.
      await alerts.record(
        [
          { source, notices: noise },
          { source: other, notices: [own] },
        ],
        'playbook',
      );
      const afterwards = firing('afterwards', { services: ['search'] });
      await alerts.record([{ source: other, notices: [afterwards] }], 'playbook');
      await send(workspace, firing('more noise', { services: ['more noise'] }));
      const incidents = await incidentsOf(workspace);
      expect(incidents).toHaveLength(alertRules.incidents + 2);
      const others = incidents.filter((incident) => incident.source === other.name);
      expect(others.map(({ services }) => services)).toEqual([['billing'], ['search']]);
    });

    it('of one incident are kept up to a bound: the first, and what fires before what is over', async () => {
      const workspace = await stage().workspace();
      const some = (from: number, count: number, make: (fingerprint: string) => AlertNotice) =>
        Array.from({ length: count }, (_, index) => make(`${from + index}`));
      const most = alertRules.kept;
      await send(workspace, ...some(0, most - 5, firing));
      await send(workspace, ...some(0, 10, ended));
      await send(workspace, ...some(most, 12, firing));
      const { id } = await only(workspace);
      const { total, active } = await workspace.alerts.ofIncident(id);
      // The seven oldest of those that are over went, but for the first.
      expect([total, active]).toEqual([most, most - 5 - 10 + 12]);
      await send(workspace, ...some(2 * most, 12, firing));
      const after = await workspace.alerts.ofIncident(id);
      expect([after.total, after.active]).toEqual([most, most - 1]);
      expect(await only(workspace)).toMatchObject({ status: 'triage' });
    });

    it('are led to one incident by so many groups of their sender, and by their services', async () => {
      const workspace = await stage().workspace();
      const many = Array.from({ length: alertRules.groups + 5 }, (_, index) =>
        firing(`${index}`, { group: `g${index}` }),
      );
      await send(workspace, ...many);
      expect(await incidentsOf(workspace)).toHaveLength(1);
      const afterwards = await laterIn(workspace, 2 * alertRules.windowMs);
      await send(afterwards, firing('first again', { group: 'g1' }));
      expect(await incidentsOf(workspace)).toHaveLength(1);
      await send(afterwards, firing('last again', { group: `g${alertRules.groups + 4}`, services: ['other'] }));
      expect(await incidentsOf(workspace)).toHaveLength(2);
    });

    it('that end as soon as they begin open no more incidents than others', async () => {
      const workspace = await stage().workspace();
      const pairs = (from: number, count: number): AlertNotice[] =>
        Array.from({ length: count }, (_, index) => ({ services: [`s${from + index}`] })).flatMap((services, index) => [
          firing(`${from + index}`, services),
          ended(`${from + index}`, services),
        ]);
      await send(workspace, ...pairs(0, alertRules.incidents));
      for (const from of [1_000, 2_000]) await send(workspace, ...pairs(from, 2));
      const incidents = await incidentsOf(workspace);
      expect(incidents).toHaveLength(alertRules.incidents);
      expect(incidents.every(({ status }) => status === 'resolved')).toBe(true);
      expect((await workspace.alerts.ofIncident(present(incidents.at(-1)).id)).total).toBe(5);
    });

    it('that an incident was made with are listed with those that came in', async () => {
      const workspace = await stage().workspace();
      const made = { fingerprint: 'm', title: 'made', severity: 'low', startsAt: new Date(5), labels: {} } as const;
      const { id } = await workspace.incidents.create(
        newIncident({
          services: ['checkout'],
          environment: 'production',
          alerts: [
            { ...made, status: 'resolved' },
            { ...made, status: 'firing' },
          ],
        }),
        ada,
      );
      await send(workspace, firing('a'));
      const { listed, total, active } = await workspace.alerts.ofIncident(id);
      expect([listed.map(({ title, status }) => `${title} ${status}`), total, active]).toEqual([
        ['made firing', 'Alert a firing', 'made resolved'],
        3,
        2,
      ]);
    });
  });

  describe('alert sources', () => {
    const stage = sharedStage(runner, make);
    const newSource = (name: string) => ({
      id: newId('als'),
      name,
      plugin: 'generic',
      sealed: awkward,
      createdBy: 'ada',
    });

    it('are found by their id alone until they are removed, by every gateway', async () => {
      const [here, there] = await stage().workspaces();
      const [{ directory }, elsewhere] = [stage().storage, stage().other.directory];
      const made = await here.alertSources.create(newSource('Ünïcödé 1'));
      expect(await there.alertSources.list()).toEqual([made]);
      expect(await elsewhere.alertSource(made.id)).toEqual(made);
      expect(await here.alertSources.replaceSecret(made.id, 'new')).toBe(true);
      expect(await elsewhere.alertSource(made.id)).toEqual({ ...made, sealed: 'new' });
      expect(await there.alertSources.remove(made.id)).toBe(true);
      expect(await there.alertSources.remove(made.id)).toBe(false);
      expect(await there.alertSources.replaceSecret(made.id, 'x')).toBe(false);
      expect(await directory.alertSource(made.id)).toBeUndefined();
      expect(await directory.alertSource(awkward)).toBeUndefined();
    });

    it('have names of their own, and are a hundred at most', async () => {
      const { alertSources } = await stage().workspace();
      await alertSources.create(newSource(' Prod '));
      expect(await refusal(alertSources.create(newSource('prod')))).toBe('conflict');
      expect(await refusal(alertSources.create(newSource('\n')))).toBe('invalid_argument');
      for (let count = 1; count < 100; count += 1) await alertSources.create(newSource(`source ${count}`));
      expect(await refusal(alertSources.create(newSource('one more')))).toBe('conflict');
      expect((await alertSources.list()).map(({ name }) => name)).toContain('Prod');
    });
  });
}
