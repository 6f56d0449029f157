import type { Picture } from '../graphics/picture.ts';
import { clock, grouped } from '../graphics/scale.ts';
import { tracePicture } from '../pages/incidents/pictures.ts';
import { chartOf } from '../pages/telemetry/chart.ts';
import { ask, fields, type Fields, list, text, texts } from './bridge.ts';
import { button, el, figure } from './dom.ts';
import { sortable } from './table.ts';

/** The result of `query_otel`: one line for one value or none, else a picture where the columns make one, and the rows. */
export function queryView(first: Fields, sql: string, canCall: boolean): HTMLElement {
  const root = el('section', {});
  let rows = rowsOf(first);
  let last = first;

  async function more(): Promise<void> {
    last = await ask('query_otel', { result_id: text(last['result_id']), offset: rows.length });
    rows = [...rows, ...rowsOf(last)];
    draw();
  }

  function draw(): void {
    const held = namedRows(first, rows);
    const [only] = rows;
    const isCut = last['truncated'] === true;
    const head = el('h1', { class: 'line' }, headOf(first, rows.length, isCut));
    const warnings = texts(first['warnings']).map((warning) => el('p', { class: 'warning' }, warning));
    const statement = sql !== '' && el('details', {}, el('summary', {}, 'SQL'), el('pre', { tabindex: '0' }, sql));
    if (only === undefined || (rows.length === 1 && held.columns.length === 1)) {
      const name = held.columns[0]?.name ?? '';
      const value =
        only === undefined ? head : el('h1', { class: 'line' }, `${name}: `, el('strong', {}, shown(only[0])));
      root.replaceChildren(value, ...warnings);
      return;
    }
    const picture = pictureOf(held);
    const loads = isCut && canCall && text(last['result_id']) !== '';
    root.replaceChildren(
      head,
      ...warnings,
      picture ? figure(picture, picture.timed && 'UTC') : '',
      sortable(
        held.columns.map(({ name }) => name),
        rows,
      ),
      el('p', { class: 'actions' }, loads && button('Load more rows', more)),
      el('div', {}, statement),
    );
  }

  draw();
  return root;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function rowsOf(structured: Fields): readonly (readonly unknown[])[] {
  return list(structured['rows']).map(list);
}

function namedRows(structured: Fields, rows: Rows['rows']): Rows {
  const columns = list(structured['columns'])
    .map(fields)
    .map(({ name, type }, index) => ({ name: text(name) || `column ${index + 1}`, type: text(type) }));
  return { rows, columns };
}

function headOf(structured: Fields, count: number, isCut: boolean): string {
  const { start, end } = fields(structured['window']);
  const period = start === undefined && end === undefined ? '' : `${at(start) || '…'} to ${at(end) || 'now'} UTC`;
  const took = text(structured['elapsed_ms']);
  const rows = `${count === 0 ? 'No' : grouped(count)} row${count === 1 ? '' : 's'}`;
  return [`${rows}${isCut ? ', of more' : ''}`, period, took && `${took} ms`].filter((part) => part !== '').join(' · ');
}

function at(value: unknown): string {
  return text(value) === '' ? '' : clock(Date.parse(text(value)), true);
}

/** Rows of a query. */
interface Rows {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
}

let drawn = 0;

/** The spans of one trace as a waterfall, else what the page Explore draws of these columns. */
function pictureOf({ columns, rows }: Rows): Picture | undefined {
  drawn += 1;
  const id = `chart-${drawn}`;
  const names = columns.map(({ name }) => name);
  const trace = names.indexOf('trace_id');
  // Spans of several traces would stand beside each other as if they were of one.
  const isOne = trace === -1 || new Set(rows.map((row) => row[trace])).size === 1;
  return (isOne ? tracePicture({ columns: names, rows }, id) : undefined) ?? chartOf({ columns, rows }, id);
}
