import { html, type Html, type Renderable } from '../html.ts';

/** A picture, and the same as a table for who cannot see it or wants the figures. */
export interface Picture {
  readonly title: string;
  /** What it shows, in a sentence or two: read out in place of the picture. */
  readonly description: string;
  readonly svg: Html;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Its axis is time, in UTC. */
  readonly timed?: boolean;
}

interface Drawing extends Omit<Picture, 'svg'> {
  /** Unique in the page, made of letters, digits and `-`. */
  readonly id: string;
  /** CSS pixels; the width is that of the page. */
  readonly height: number;
  /** Chooses the margins. */
  readonly kind: 'plot' | 'rows' | 'map';
  readonly body: Renderable;
}

/** Columns and rows of a table are as many as a person may want to read. */
const mostRows = 200;

export function picture({ id, height, kind, body, title, description, columns, rows, ...rest }: Drawing): Picture {
  const svg = html`<svg class="gfx ${kind}" role="img" aria-labelledby="${id}-t ${id}-d" height="${height}">
    <title id="${id}-t">${title}</title>
    <desc id="${id}-d">${description}</desc>
    ${body}
  </svg>`;
  return { ...rest, title, description, svg, columns, rows: rows.slice(0, mostRows) };
}

/** Shown by a browser where the pointer rests, without a script. */
export function tip(text: string): Html {
  return html`<title>${text}</title>`;
}
