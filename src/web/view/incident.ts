import type { Picture } from '../graphics/picture.ts';
import { clock } from '../graphics/scale.ts';
import { timeline } from '../graphics/timeline.ts';
import type { Mark } from '../graphics/series.ts';
import { stepPicture } from '../pages/incidents/comparison.ts';
import { coursePictures, mapPicture, spreadPicture } from '../pages/incidents/pictures.ts';
import { marksOf, type DrawnStep, type MarkedAlert } from '../pages/incidents/rows.ts';
import { answerOf, ask, call, fields, type Fields, list, text, texts } from './bridge.ts';
import { button, el, figure, inline, prose } from './dom.ts';
import { queryView } from './query.ts';
import { sortable } from './table.ts';

/** A step keeps so many of its rows. */
const keptRows = 50;

/** The result of `read_incident` as a card: what is known at once, pictures and evidence on a click. */
export function incidentView(found: Fields, canCall: boolean): HTMLElement {
  const incident = fields(found['incident']);
  const investigation = fields(found['investigation']);
  const document = text(fields(found['document'])['markdown']);
  const claims = list(investigation['claims']).map(fields);
  const steps = stepsOf(found);
  const events = eventsOf(found);
  const key = text(incident['key']);
  const pictures = el('div', { class: 'pictures' });
  const evidence = el('div', {}, stepViews(steps, { key, canCall }));

  async function showPictures(): Promise<void> {
    const all = stepsOf(await ask('read_incident', { incident_id: key, evidence_id: 'pictures' }));
    pictures.replaceChildren(...picturesOf(all, found).map((picture) => figure(picture, picture.timed && 'UTC')));
    if (pictures.childElementCount === 0) pictures.append(el('p', { class: 'soft' }, 'Its evidence makes no picture.'));
  }

  async function showSteps(): Promise<void> {
    const all = stepsOf(await ask('read_incident', { incident_id: key, include: ['evidence'] }));
    evidence.replaceChildren(...stepViews(all, { key, canCall }));
  }

  return el(
    'article',
    {},
    header(incident),
    events.length > 1 && [
      figure(timeline({ id: 'timeline', title: 'What happened when', events }), 'UTC'),
      el(
        'ol',
        { dir: 'auto' },
        events.map(({ at, label }) => el('li', {}, `${clock(at)} ${label}`)),
      ),
    ],
    canCall && steps.length > 0 && el('p', { class: 'actions' }, button('Show pictures', showPictures)),
    pictures,
    claims.length > 0 && el('h2', {}, 'Claims'),
    el('ul', {}, claims.map(claimItem)),
    steps.length > 0 && el('h2', {}, 'Evidence'),
    evidence,
    canCall && steps.length > 0 && el('p', { class: 'actions' }, button('All evidence', showSteps)),
    document !== '' && el('details', {}, el('summary', {}, 'Document'), prose(document)),
    texts(found['notes']).map((note) => el('p', { class: 'soft' }, note)),
  );
}

function stepsOf(found: Fields): readonly Fields[] {
  return list(fields(found['investigation'])['steps']).map(fields);
}

function header(incident: Fields): HTMLElement {
  const waiting = fields(incident['waiting_on']);
  const cause = fields(incident['cause']);
  const severity = text(incident['severity']);
  const party = text(waiting['party']);
  return el(
    'header',
    {},
    el('h1', { dir: 'auto' }, `${text(incident['key'])} ${text(incident['title'])}`),
    el(
      'p',
      {},
      tag(severity, severity === 'critical' || severity === 'high'),
      tag(text(incident['status'])),
      party !== '' && party !== 'none' && tag(`waits on ${[party, text(waiting['name'])].filter(Boolean).join(' ')}`),
      texts(incident['services']).map((service) => tag(service)),
    ),
    text(waiting['reason']) !== '' && el('p', { class: 'warning', dir: 'auto' }, inline(text(waiting['reason']))),
    text(cause['text']) !== '' &&
      el(
        'p',
        { dir: 'auto' },
        el('strong', {}, `Likeliest cause (${text(cause['confidence'])} confidence): `),
        inline(text(cause['text'])),
      ),
  );
}

function tag(label: string, isBad = false): HTMLElement | false {
  return label !== '' && el('span', { class: isBad ? 'tag bad' : 'tag' }, label);
}

function claimItem(claim: Fields): HTMLElement {
  const ids = texts(claim['evidence_ids']).join(', ');
  const status = text(claim['status']);
  return el('li', { dir: 'auto' }, inline(text(claim['text'])), ' ', tag([status, ids].filter(Boolean).join(': ')));
}

function time(value: unknown): number {
  return text(value) === '' ? Number.NaN : Date.parse(text(value));
}

function eventsOf(found: Fields): readonly Mark[] {
  const incident = fields(found['incident']);
  const own = [
    ['started_at', 'onset', 'it started'],
    ['detected_at', 'change', 'it was detected'],
    ['mitigated_at', 'end', 'it was mitigated'],
    ['resolved_at', 'end', 'it was resolved'],
  ] as const;
  const marks: readonly Mark[] = own.map(([name, kind, label]) => ({ at: time(incident[name]), kind, label }));
  return [...marks, ...marksOf([], undefined, { listed: alertsOf(found) })]
    .filter(({ at }) => Number.isFinite(at))
    .toSorted((a, b) => a.at - b.at);
}

function alertsOf(found: Fields): readonly MarkedAlert[] {
  return list(found['alerts']).map((alert) => {
    const { title, starts_at: starts, ends_at: ends } = fields(alert);
    const endsAt = text(ends) === '' ? undefined : new Date(time(ends));
    return { title: text(title), startsAt: new Date(time(starts)), endsAt };
  });
}

function drawnStep(step: Fields): DrawnStep {
  const window = fields(step['window']);
  return {
    columns: texts(step['columns']),
    rows: list(step['rows']).map(list),
    window: { start: text(window['start']), end: text(window['end']) },
    ...(text(step['error']) !== '' && { error: text(step['error']) }),
  };
}

function isWhole(step: Fields): boolean {
  return list(step['rows']).length >= Math.min(keptRows, Number(step['row_count']) || 0);
}

function picturesOf(steps: readonly Fields[], found: Fields): readonly Picture[] {
  const conclusion = fields(fields(found['investigation'])['conclusion']);
  // Of what was cut to fit an answer a picture would show a part as if it were all.
  const whole = steps.filter(isWhole).map(drawnStep);
  const onset = text(conclusion['onset']);
  const marks = marksOf(steps.map(drawnStep), onset === '' ? undefined : { onset }, { listed: alertsOf(found) });
  const suspects = list(conclusion['suspects']).map(fields);
  const shown = {
    steps: whole,
    marks,
    conclusion: {
      service: text(conclusion['service']),
      suspicions: suspects.map(({ service, why }) => ({ service: text(service), why: text(why), evidence_ids: [] })),
    },
  };
  return [...coursePictures(shown), mapPicture(shown), spreadPicture(shown)].filter((one) => one !== undefined);
}

interface Place {
  readonly key: string;
  readonly canCall: boolean;
}

function stepViews(steps: readonly Fields[], place: Place): readonly HTMLElement[] {
  return steps.map((step) => stepView(step, place));
}

function stepView(step: Fields, place: Place): HTMLElement {
  const id = text(step['evidence_id']);
  const evidence = el('div', {});
  const { key, canCall } = place;
  const asked = { incident_id: key, evidence_id: id };

  async function showRows(): Promise<void> {
    const { structured, said } = answerOf(await call('read_incident', asked));
    const [found] = structured === undefined ? [] : stepsOf(structured);
    if (found === undefined) throw new Error(said);
    evidence.replaceChildren(evidenceView(found, canCall));
  }

  if (text(step['sql']) !== '') evidence.append(evidenceView(step, canCall));
  else if (canCall && key !== '') evidence.append(button('Rows and SQL', showRows));
  return el(
    'details',
    {},
    el('summary', {}, `${id}: `, inline(text(step['question']))),
    el('p', { dir: 'auto' }, inline(text(step['observation'])), ' ', tag(text(step['verdict']))),
    text(step['error']) !== '' && el('p', { class: 'alert' }, text(step['error'])),
    evidence,
  );
}

function evidenceView(step: Fields, canCall: boolean): HTMLElement {
  const sql = text(step['sql']);
  const drawn = drawnStep(step);
  const { columns, rows, window } = drawn;
  const picture = stepPicture(drawn, { id: `evidence-${text(step['evidence_id'])}` });
  const again = el('div', {});

  async function run(): Promise<void> {
    const found = await ask('query_otel', { sql, start: window.start, end: window.end });
    again.replaceChildren(el('h3', {}, 'As it is now'), queryView(found, '', canCall));
  }

  return el(
    'div',
    {},
    picture && figure(picture, picture.timed && 'UTC'),
    rows.length > 0 && sortable(columns, rows),
    el('pre', { tabindex: '0' }, sql),
    // Other MCP servers were asked in a language of their own.
    canCall && text(step['dialect']) !== 'mcp' && button('Run again', run),
    again,
  );
}
