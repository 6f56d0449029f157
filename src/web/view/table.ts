import { button, el } from './dom.ts';

const perPage = 100;
const longestCell = 400;
/** Not broken into lines. */
const shortCell = 40;

interface Column {
  readonly name: string;
  /** Compared as numbers, which may come as text. */
  readonly numeric: boolean;
}

function isNumeric(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '' && Number.isFinite(Number(value));
  return typeof value === 'number' || value === null || value === undefined;
}

/** Rows by the page, sorted by the column whose heading was pressed: first up, then down, then as they came. */
export function sortable(names: readonly string[], rows: readonly (readonly unknown[])[]): HTMLElement {
  const columns = names.map((name, at): Column => ({ name, numeric: rows.every((row) => isNumeric(row[at])) }));
  const root = el('div', {});
  let by: { readonly column: number; readonly down: boolean } | undefined;
  let page = 0;

  const sorted = (): typeof rows => {
    if (by === undefined) return rows;
    const { column, down } = by;
    const compare = columns[column]?.numeric === true ? byNumber : byText;
    return rows.toSorted((a, b) => emptyLast(a[column], b[column]) || compare(a[column], b[column]) * (down ? -1 : 1));
  };

  function heading({ name, numeric }: Column, column: number): HTMLElement {
    const own = by?.column === column ? by : undefined;
    const mark = own === undefined ? '' : own.down ? ' ▼' : ' ▲';
    const pressed = button(`${name}${mark}`, () => {
      by = own === undefined ? { column, down: false } : own.down ? undefined : { column, down: true };
      page = 0;
      draw();
      root.querySelectorAll('th')[column]?.querySelector('button')?.focus();
    });
    const sort = own === undefined ? 'none' : own.down ? 'descending' : 'ascending';
    return el('th', { scope: 'col', 'aria-sort': sort, class: numeric ? 'number' : '' }, pressed);
  }

  function draw(): void {
    const last = Math.max(0, Math.ceil(rows.length / perPage) - 1);
    const shown = sorted().slice(page * perPage, (page + 1) * perPage);
    const turn = (label: string, by: number): HTMLElement | false =>
      page + by >= 0 &&
      page + by <= last &&
      button(label, () => {
        page += by;
        draw();
      });
    root.replaceChildren(
      el(
        'div',
        { class: 'table', tabindex: '0', role: 'group', 'aria-label': 'Rows' },
        el(
          'table',
          {},
          el('thead', {}, el('tr', {}, columns.map(heading))),
          el(
            'tbody',
            {},
            shown.map((row) =>
              el(
                'tr',
                {},
                columns.map(({ numeric }, index) => cell(row[index], numeric)),
              ),
            ),
          ),
        ),
      ),
    );
    if (last === 0) return;
    const from = page * perPage;
    const which = `Rows ${from + 1} to ${from + shown.length} of ${rows.length}`;
    const turns = [turn('Before', -1), turn('Next', 1)].filter((one) => one !== false);
    root.append(el('p', { class: 'actions' }, el('span', {}, which), ...turns));
  }

  draw();
  return root;
}

function cell(value: unknown, numeric: boolean): HTMLElement {
  if (value === null || value === undefined) return el('td', { class: 'soft' }, '–');
  const whole = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const shown = whole.length > longestCell ? `${whole.slice(0, longestCell).toWellFormed()}…` : whole;
  const wraps = shown.length > shortCell;
  return el('td', numeric ? { class: 'number' } : { class: wraps ? 'long' : '', dir: 'auto' }, shown);
}

function emptyLast(a: unknown, b: unknown): number {
  return Number(a === null || a === undefined) - Number(b === null || b === undefined);
}

function byNumber(a: unknown, b: unknown): number {
  return Number(a) - Number(b) || 0;
}

const collator = new Intl.Collator('en', { numeric: true });

function byText(a: unknown, b: unknown): number {
  return collator.compare(asText(a), asText(b));
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
