import { html } from './html.ts';
import type { Html, Renderable } from './html.ts';

export interface Table {
  /** What a screen reader calls it. */
  readonly label: string;
  readonly columns: readonly string[];
  /** The first cell of a row is its heading. */
  readonly rows: readonly (readonly Renderable[])[];
  /** Instead of an empty table. */
  readonly empty: Renderable;
}

/** On a narrow screen it scrolls by itself. */
export function table({ label, columns, rows, empty }: Table): Html {
  if (rows.length === 0) return html`<p class="soft">${empty}</p>`;
  const body = rows.map(
    ([first, ...rest]) =>
      html`<tr>
        <th scope="row">${first}</th>
        ${rest.map((cell) => html`<td>${cell}</td>`)}
      </tr>`,
  );
  return html`<div class="table" tabindex="0" role="group" aria-label="${label}">
    <table>
      <thead>
        <tr>
          ${columns.map((column) => html`<th scope="col">${column}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${body}
      </tbody>
    </table>
  </div>`;
}
