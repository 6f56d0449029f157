import { newId } from '../../../src/contract/core/index.ts';
import {
  incidentStatuses,
  nextStatuses,
  type Alert,
  type Incident,
  type IncidentStatus,
  type NewIncident,
  type Workspace,
} from '../../../src/contract/storage/index.ts';
import { rejection, type Runner } from '../runner.ts';
import { ada, awkward, bob, inTurn, type MakeStorage, newIncident, present, refusal, sharedStage } from './stage.ts';

/** How to bring a new incident into each status, by transitions that are allowed. */
const route: Record<IncidentStatus, readonly IncidentStatus[]> = {
  triage: [],
  investigating: ['investigating'],
  identified: ['identified'],
  mitigated: ['mitigated'],
  resolved: ['resolved'],
  dismissed: ['dismissed'],
};

/** Incidents: their fields, numbers, states, documents and what is written down about each change. */
export function incidentPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('incidents', () => {
    const stage = sharedStage(runner, make);
    const inStatus = async ({ incidents }: Workspace, status: IncidentStatus): Promise<Incident> => {
      let incident = await incidents.create(newIncident(), ada);
      for (const next of route[status]) incident = await incidents.update(incident.id, { status: next }, ada);
      return incident;
    };

    it('come back field by field', async () => {
      const [here, there] = await stage().workspaces();
      const alert: Alert = {
        fingerprint: awkward,
        title: awkward,
        status: 'resolved',
        severity: 'unknown',
        startsAt: new Date(1_800_000_000_001),
        endsAt: new Date(1_800_000_000_002),
        labels: { [awkward]: awkward, __proto: 'x' },
        url: 'https://example.org/a?b=c&d=%20',
      };
      const bare: Alert = {
        fingerprint: 'f',
        title: 't',
        status: 'firing',
        severity: 'low',
        startsAt: new Date(0),
        labels: {},
      };
      const input = {
        title: awkward,
        summary: awkward,
        status: 'identified',
        severity: 'critical',
        waitingOn: { party: 'external', name: awkward, reason: awkward },
        services: ['checkout', awkward],
        environment: awkward,
        source: awkward,
        fingerprint: awkward,
        labels: { team: awkward },
        assignee: awkward,
        alerts: [alert, bare],
        startedAt: new Date(1_799_999_999_001),
        detectedAt: new Date(1_799_999_999_002),
      } satisfies NewIncident;
      const { waitingOn, ...plain } = input;
      const incident = await here.incidents.create({ ...input, document: awkward }, ada);
      expect(incident).toMatchObject({ ...plain, number: 1, key: 'INC-1', organizationId: here.organizationId });
      expect(incident.waitingOn).toEqual({ ...waitingOn, since: incident.createdAt });
      expect(incident.updatedAt).toEqual(incident.createdAt);
      expect(await there.incidents.get(incident.id)).toEqual(incident);
      expect((await there.incidents.list({ limit: 1 })).items).toEqual([incident]);
      expect(await there.incidents.document(incident.id)).toEqual({
        markdown: awkward,
        version: 1,
        author: ada,
        updatedAt: incident.createdAt,
      });
    });

    it('have defaults that claim nothing', async () => {
      const { incidents } = await stage().workspace();
      const incident = await incidents.create(newIncident(), bob);
      expect(incident).toMatchObject({
        status: 'triage',
        summary: '',
        services: [],
        environment: '',
        labels: {},
        alerts: [],
        waitingOn: { party: 'none' },
      });
      expect(Object.keys(incident)).not.toContain('fingerprint');
      expect(Object.keys(incident)).not.toContain('resolvedAt');
      expect(await incidents.document(incident.id)).toBeUndefined();
    });

    it('are found by id and by key in any case, and by nothing else', async () => {
      const { incidents } = await stage().workspace();
      const incident = await incidents.create(newIncident(), ada);
      for (const wanted of [incident.id, 'INC-1', 'inc-1', 'Inc-1']) {
        expect((await incidents.get(wanted))?.id).toBe(incident.id);
      }
      for (const wanted of [
        '',
        '1',
        'INC-01',
        'INC-1 ',
        'INC-1.0',
        'INC-0',
        'INC-99999999999999999999',
        'INC-%',
        newId('inc'),
      ]) {
        expect(await incidents.get(wanted)).toBeUndefined();
      }
    });

    it('are numbered from 1 without gaps or doubles, also when two processes open them at once', async () => {
      const [here, there] = await stage().workspaces();
      const made = await Promise.all(
        Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? here : there).incidents.create(newIncident(), ada)),
      );
      const numbers = made.map(({ number }) => number).toSorted((a, b) => a - b);
      expect(numbers).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
      const elsewhere = await stage().workspace();
      expect((await elsewhere.incidents.create(newIncident(), ada)).key).toBe('INC-1');
    });

    it('are opened once for one fingerprint, by whoever is first', async () => {
      const [here, there] = await stage().workspaces();
      const opened = await Promise.all(
        [here, there, here, there, here, there].map(({ incidents }) =>
          incidents.create(newIncident({ fingerprint: 'disk full' }), ada),
        ),
      );
      expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
      expect((await here.incidents.create(newIncident({ fingerprint: 'other' }), ada)).number).toBe(2);
      expect((await here.incidents.create(newIncident(), ada)).number).toBe(3);
    });

    it('are opened anew for a fingerprint whose incident is closed', async () => {
      const { incidents } = await stage().workspace();
      for (const status of ['resolved', 'dismissed'] as const) {
        const first = await incidents.create(newIncident({ fingerprint: 'again' }), ada);
        await incidents.update(first.id, { status }, ada);
        const second = await incidents.create(newIncident({ fingerprint: 'again' }), ada);
        expect(second.id).not.toBe(first.id);
        await incidents.update(second.id, { status }, ada);
      }
    });

    for (const from of incidentStatuses) {
      it(`go from ${from} only where they may, and say where that is`, async () => {
        const workspace = await stage().workspace();
        const { incidents } = workspace;
        for (const to of incidentStatuses.filter((status) => status !== from)) {
          const incident = await inStatus(workspace, from);
          if (nextStatuses(from).includes(to)) {
            expect((await incidents.update(incident.id, { status: to }, bob)).status).toBe(to);
            continue;
          }
          const error = await rejection(incidents.update(incident.id, { status: to, title: 'no' }, bob));
          expect(error).toMatchObject({ code: 'conflict' });
          const hint = error instanceof Error && 'hint' in error ? String(error.hint) : '';
          for (const allowed of nextStatuses(from)) expect(hint).toContain(allowed);
          expect(await incidents.get(incident.id)).toEqual(incident);
        }
      });
    }

    it('set the times of their states and take them back when they reopen', async () => {
      const { incidents } = await stage().workspace();
      const { id } = await incidents.create(newIncident(), ada);
      const to = (status: IncidentStatus) => incidents.update(id, { status }, ada);
      const mitigated = await to('mitigated');
      expect(mitigated.mitigatedAt).toEqual(mitigated.updatedAt);
      expect(mitigated.resolvedAt).toBeUndefined();
      const resolved = await to('resolved');
      expect(resolved.mitigatedAt).toEqual(mitigated.mitigatedAt);
      expect(resolved.resolvedAt).toEqual(resolved.updatedAt);
      const reopened = await to('investigating');
      expect(reopened.mitigatedAt).toBeUndefined();
      expect(reopened.resolvedAt).toBeUndefined();
      expect(await incidents.get(id)).toEqual(reopened);
    });

    it('wait on nobody once they are resolved or dismissed', async () => {
      const { incidents } = await stage().workspace();
      for (const status of ['resolved', 'dismissed'] as const) {
        const waitingOn = { party: 'human', name: 'ada@example.org', reason: 'approve' } as const;
        const { id } = await incidents.create(newIncident({ waitingOn }), ada);
        const closed = await incidents.update(id, { status }, ada);
        expect(closed.waitingOn).toEqual({ party: 'none', since: closed.updatedAt });
        expect(await refusal(incidents.update(id, { waitingOn }, ada))).toBe('conflict');
        expect((await incidents.update(id, { status: 'investigating', waitingOn }, ada)).waitingOn).toMatchObject(
          waitingOn,
        );
      }
      const closedFromTheStart = newIncident({ status: 'resolved', waitingOn: { party: 'agent' } });
      expect(await refusal(incidents.create(closedFromTheStart, ada))).toBe('conflict');
    });

    it('know since when they wait on whom', async () => {
      const { incidents } = await stage().workspace();
      const { id } = await incidents.create(newIncident({ waitingOn: { party: 'agent' } }), ada);
      const first = await incidents.update(id, { waitingOn: { party: 'human', name: 'ada@example.org' } }, ada);
      await new Promise((resolve) => setTimeout(resolve, 3));
      const reworded = await incidents.update(
        id,
        { waitingOn: { party: 'human', name: 'ada@example.org', reason: 'now with a reason' } },
        ada,
      );
      expect(reworded.waitingOn.reason).toBe('now with a reason');
      expect(reworded.waitingOn.since).toEqual(first.waitingOn.since);
      const handed = await incidents.update(id, { waitingOn: { party: 'human', name: 'bob@example.org' } }, ada);
      expect(handed.waitingOn.since.getTime()).toBeGreaterThan(first.waitingOn.since.getTime());
      expect(handed.waitingOn.reason).toBeUndefined();
    });

    it('write down every change with who and when, and nothing when nothing changes', async () => {
      const [here, there] = await stage().workspaces();
      const { id } = await here.incidents.create(newIncident({ services: ['a'] }), ada);
      const before = present(await here.incidents.get(id));
      expect(await here.incidents.update(id, { status: 'triage', title: before.title, services: ['a'] }, bob)).toEqual(
        before,
      );
      const updated = await here.incidents.update(
        id,
        {
          status: 'investigating',
          severity: 'low',
          title: 'New title',
          summary: 'New summary',
          services: ['b', 'c'],
          assignee: 'ada@example.org',
          waitingOn: { party: 'human', name: 'ada@example.org' },
          alerts: [
            { fingerprint: 'f', title: 't', status: 'firing', severity: 'low', startsAt: new Date(0), labels: {} },
          ],
        },
        bob,
      );
      await here.incidents.writeDocument(id, '# Found', ada);
      const timeline = await there.incidents.timeline(id);
      expect(timeline.map(({ change, from, to }) => [change, from, to])).toEqual([
        ['created', undefined, 'triage'],
        ['status', 'triage', 'investigating'],
        ['waiting_on', 'none', 'human: ada@example.org'],
        ['title', before.title, 'New title'],
        ['summary', undefined, undefined],
        ['severity', 'high', 'low'],
        ['services', 'a', 'b, c'],
        ['assignee', undefined, 'ada@example.org'],
        ['alerts', '0', '1'],
        ['document', undefined, '1'],
      ]);
      expect(timeline.map(({ actor }) => actor)).toEqual([ada, ...Array.from({ length: 8 }, () => bob), ada]);
      expect(timeline.at(1)?.at).toEqual(updated.updatedAt);
    });

    it('lose no change when two processes change different things at once', async () => {
      const [here, there] = await stage().workspaces();
      const { id } = await here.incidents.create(newIncident(), ada);
      await Promise.all([
        here.incidents.update(id, { title: 'Titled' }, ada),
        there.incidents.update(id, { summary: 'Summed' }, bob),
        here.incidents.update(id, { severity: 'low' }, ada),
        there.incidents.update(id, { assignee: 'ada@example.org' }, bob),
      ]);
      expect(await here.incidents.get(id)).toMatchObject({
        title: 'Titled',
        summary: 'Summed',
        severity: 'low',
        assignee: 'ada@example.org',
      });
      expect(await here.incidents.timeline(id)).toHaveLength(5);
    });

    it('have a title that is not blank', async () => {
      const { incidents } = await stage().workspace();
      for (const title of ['', ' \n\t']) {
        expect(await refusal(incidents.create(newIncident({ title }), ada))).toBe('invalid_argument');
      }
      const { id, title } = await incidents.create(newIncident(), ada);
      expect(await refusal(incidents.update(id, { title: ' ' }, ada))).toBe('invalid_argument');
      expect((await incidents.get(id))?.title).toBe(title);
    });

    it('are not changed when they do not exist', async () => {
      const { incidents } = await stage().workspace();
      expect(await refusal(incidents.update(newId('inc'), { title: 'x' }, ada))).toBe('not_found');
      expect(await refusal(incidents.writeDocument(newId('inc'), 'x', ada))).toBe('not_found');
      expect(await incidents.document(newId('inc'))).toBeUndefined();
      expect(await incidents.timeline(newId('inc'))).toEqual([]);
    });

    it('keep a document of a megabyte of any text, byte for byte', async () => {
      const [here, there] = await stage().workspaces();
      const { id } = await here.incidents.create(newIncident(), ada);
      const markdown = awkward.repeat(Math.ceil(1_048_576 / Buffer.byteLength(awkward)));
      await here.incidents.writeDocument(id, markdown, ada);
      expect((await there.incidents.document(id))?.markdown === markdown).toBe(true);
    });

    it('number the versions of a document, also when two processes write at once', async () => {
      const [here, there] = await stage().workspaces();
      const { id } = await here.incidents.create(newIncident({ document: 'one' }), ada);
      const written = await Promise.all(
        [here, there, here, there].map(({ incidents }, index) => incidents.writeDocument(id, `text ${index}`, bob)),
      );
      expect(written.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5]);
      const newest = present(written.find(({ version }) => version === 5));
      expect(await there.incidents.document(id)).toEqual(newest);
      expect((await there.incidents.get(id))?.updatedAt.getTime()).toBeGreaterThanOrEqual(newest.updatedAt.getTime());
    });
  });

  describe('the list of incidents', () => {
    const stage = sharedStage(runner, make);
    const titles = async ({ incidents }: Workspace, filter: object) =>
      (await incidents.list({ limit: 100, ...filter })).items.map(({ title }) => title);

    it('has the newest start first', async () => {
      const workspace = await stage().workspace();
      await inTurn([5, 9, 1, 7], (at) =>
        workspace.incidents.create(newIncident({ title: String(at), startedAt: new Date(at) }), ada),
      );
      expect(await titles(workspace, {})).toEqual(['9', '7', '5', '1']);
    });

    it('is filtered by status, with `open` for the four open ones', async () => {
      const workspace = await stage().workspace();
      for (const status of incidentStatuses) {
        await workspace.incidents.create(newIncident({ title: status, status }), ada);
      }
      expect((await titles(workspace, { statuses: ['open'] })).toSorted()).toEqual([
        'identified',
        'investigating',
        'mitigated',
        'triage',
      ]);
      expect((await titles(workspace, { statuses: ['resolved', 'triage'] })).toSorted()).toEqual([
        'resolved',
        'triage',
      ]);
      expect(await titles(workspace, { statuses: ['open', 'resolved', 'dismissed'] })).toHaveLength(6);
    });

    it('is filtered by severity, service, start and party, alone and together', async () => {
      const workspace = await stage().workspace();
      const make = (title: string, overrides: Partial<NewIncident>) =>
        workspace.incidents.create(newIncident({ title, ...overrides }), ada);
      await make('a', { severity: 'critical', services: ['Checkout', 'cart'], startedAt: new Date(1_000) });
      await make('b', {
        severity: 'low',
        services: ['cart'],
        startedAt: new Date(2_000),
        waitingOn: { party: 'agent' },
      });
      await make('c', {
        severity: 'low',
        services: [],
        startedAt: new Date(3_000),
        waitingOn: { party: 'human', name: 'Ada@Example.org' },
      });
      expect(await titles(workspace, { severities: ['low'] })).toEqual(['c', 'b']);
      expect(await titles(workspace, { severities: ['low', 'critical'] })).toEqual(['c', 'b', 'a']);
      expect(await titles(workspace, { service: 'checkout' })).toEqual(['a']);
      expect(await titles(workspace, { service: 'CART' })).toEqual(['b', 'a']);
      expect(await titles(workspace, { service: 'car' })).toEqual([]);
      expect(await titles(workspace, { service: '%' })).toEqual([]);
      expect(await titles(workspace, { since: new Date(2_000) })).toEqual(['c', 'b']);
      expect(await titles(workspace, { until: new Date(2_000) })).toEqual(['a']);
      expect(await titles(workspace, { waitingOn: ['agent'] })).toEqual(['b']);
      expect(await titles(workspace, { waitingOn: ['ada@example.org'] })).toEqual(['c']);
      expect(await titles(workspace, { waitingOn: ['none', 'ADA@example.org'] })).toEqual(['c', 'a']);
      expect(await titles(workspace, { waitingOn: ['nobody@example.org'] })).toEqual([]);
      expect(await titles(workspace, { severities: ['low'], service: 'cart', until: new Date(2_500) })).toEqual(['b']);
    });

    it('follows a change of services', async () => {
      const workspace = await stage().workspace();
      const { id } = await workspace.incidents.create(newIncident({ title: 'x', services: ['old'] }), ada);
      await workspace.incidents.update(id, { services: ['new', 'NEW'] }, ada);
      expect(await titles(workspace, { service: 'old' })).toEqual([]);
      expect(await titles(workspace, { service: 'new' })).toEqual(['x']);
    });

    it('is searched for all words in title and summary, without case and without wildcards', async () => {
      const workspace = await stage().workspace();
      const add = (title: string, summary: string) => workspace.incidents.create(newIncident({ title, summary }), ada);
      await add('Ärger im Überbau', 'Größe 100% erreicht');
      await add('under_score', "it's a \\ back!slash");
      await add('plain', 'underXscore and 1000');
      const search = async (query: string) => (await titles(workspace, { query })).toSorted();
      expect(await search('ÄRGER größe')).toEqual(['Ärger im Überbau']);
      expect(await search('100%')).toEqual(['Ärger im Überbau']);
      expect(await search('%')).toEqual(['Ärger im Überbau']);
      expect(await search('r_s')).toEqual(['under_score']);
      expect(await search("IT'S")).toEqual(['under_score']);
      expect(await search('\\')).toEqual(['under_score']);
      expect(await search('k!s')).toEqual(['under_score']);
      expect(await search('plain under')).toEqual(['plain']);
      expect(await search('plain missing')).toEqual([]);
      expect(await search('   ')).toHaveLength(3);
      expect(await refusal(search('x'.repeat(501)))).toBe('invalid_argument');
      expect(await refusal(search('a '.repeat(17)))).toBe('invalid_argument');
    });

    it('finds incidents by the service that was found to blame and by the words of what was found', async () => {
      const [here, there] = await stage().workspaces();
      const finding = {
        root_cause: 'Most failures begin in `Payment`, saying `amex 100% refused`',
        service: 'Payment',
        category: 'errors',
        confidence: 'high',
        claims: [awkward, 'Version 2.4.0 is new'],
        rivals: [
          { service: 'cart', why: awkward, why_not: 'It calls `Payment`' },
          { service: 'db', why: 'It is slow' },
        ],
      } as const;
      const { id } = await here.incidents.create(newIncident({ title: 'x', services: ['checkout'] }), ada);
      const { key: other } = await here.incidents.create(newIncident({ title: 'y', services: ['payment'] }), ada);
      expect(await titles(here, { service: 'payment' })).toEqual(['y']);
      const found = await here.incidents.update(id, { finding }, ada);
      expect(found.finding).toEqual(finding);
      expect(await there.incidents.get(id)).toEqual(found);
      expect((await titles(there, { service: 'payment' })).toSorted()).toEqual(['x', 'y']);
      expect(await titles(there, { service: 'checkout' })).toEqual(['x']);
      expect(await titles(there, { blamed: 'PAYMENT' })).toEqual(['x']);
      expect(await titles(there, { blamed: 'checkout' })).toEqual([]);
      expect(await titles(there, { query: 'AMEX 100% 2.4.0' })).toEqual(['x']);
      expect((await here.incidents.update(id, { finding }, bob)).updatedAt).toEqual(found.updatedAt);
      await here.incidents.update(id, { finding: { ...finding, service: 'cart', root_cause: 'cart' } }, ada);
      expect(await titles(there, { blamed: 'payment' })).toEqual([]);
      expect(await titles(there, { query: 'amex refused' })).toEqual([]);
      expect((await there.incidents.timeline(id)).slice(1).map(({ change, from, to }) => [change, from, to])).toEqual([
        ['finding', undefined, 'Payment (high confidence)'],
        ['finding', 'Payment (high confidence)', 'cart (high confidence)'],
      ]);
      const elsewhere = await stage().workspace();
      expect(await titles(elsewhere, { blamed: 'cart' })).toEqual([]);
      expect(other).toBe('INC-2');
    });

    it('pages without gap or double while incidents come in, also of one start time', async () => {
      const [here, there] = await stage().workspaces();
      const startedAt = new Date(1_000_000);
      const add = (title: string) => there.incidents.create(newIncident({ title, startedAt }), ada);
      await inTurn(
        Array.from({ length: 12 }, (_, index) => `old ${index}`),
        add,
      );
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await here.incidents.list({ limit: 5, ...(cursor === undefined ? {} : { cursor }) });
        seen.push(...page.items.map(({ title }) => title));
        cursor = page.nextCursor;
        await there.incidents.create(newIncident({ title: 'newer', startedAt: new Date(2_000_000) }), ada);
      } while (cursor !== undefined);
      expect(seen.toSorted()).toEqual(Array.from({ length: 12 }, (_, index) => `old ${index}`).toSorted());
    });

    it('ends where it ends: a last page has no cursor, also when it is full', async () => {
      const { incidents } = await stage().workspace();
      expect(await incidents.list({ limit: 5 })).toEqual({ items: [] });
      await inTurn(Array.from({ length: 5 }), () => incidents.create(newIncident(), ada));
      const page = await incidents.list({ limit: 5 });
      expect(page.items).toHaveLength(5);
      expect(page.nextCursor).toBeUndefined();
    });

    it('takes a cursor only with the filter and organization it came from', async () => {
      const [workspace, elsewhere] = [await stage().workspace(), await stage().workspace()];
      await inTurn(Array.from({ length: 3 }), () => workspace.incidents.create(newIncident(), ada));
      await inTurn(Array.from({ length: 3 }), () => elsewhere.incidents.create(newIncident(), ada));
      const statuses = ['open', 'resolved'] as const;
      const cursor = present((await workspace.incidents.list({ limit: 1, statuses })).nextCursor);
      expect((await workspace.incidents.list({ limit: 1, statuses: ['resolved', 'open'], cursor })).items).toHaveLength(
        1,
      );
      // All at once, so that none is refused before somebody listens.
      const refused = await Promise.all(
        [
          workspace.incidents.list({ limit: 1, cursor }),
          workspace.incidents.list({ limit: 1, statuses: ['open'], cursor }),
          workspace.incidents.list({ limit: 1, statuses, query: 'x', cursor }),
          elsewhere.incidents.list({ limit: 1, statuses, cursor }),
          workspace.chats.list({ limit: 1, cursor }),
          ...[
            '',
            'x',
            `${cursor}x`,
            cursor.slice(4),
            'null',
            Buffer.from('[1,2,3]').toString('base64url'),
            'A'.repeat(9_999),
          ].map((broken) => workspace.incidents.list({ limit: 1, statuses, cursor: broken })),
        ].map(refusal),
      );
      expect(new Set(refused)).toEqual(new Set(['invalid_argument']));
    });

    it('refuses a limit that is no page size', async () => {
      const { incidents } = await stage().workspace();
      for (const limit of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1_001]) {
        expect(await refusal(incidents.list({ limit }))).toBe('invalid_argument');
      }
    });
  });
}
