import type { Picture } from './graphics/picture.ts';
import { html, type Html, type Renderable } from './html.ts';
import type { View, Visit } from './page.ts';

interface Table {
  readonly label: string;
  readonly columns: readonly Renderable[];
  /** The first cell of a row is its heading. */
  readonly rows: readonly (readonly Renderable[])[];
  readonly empty: Renderable;
}

/** On a narrow screen only the table scrolls, not the page. */
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

interface Confirmation {
  /** As a question: "Revoke “CI”?" */
  readonly title: string;
  readonly text: Renderable;
  readonly button: string;
  /** The page that acts, by POST, and the one to go back to. */
  readonly action: string;
  readonly back: string;
  readonly fields?: Html;
  readonly problem?: { readonly message: Html; readonly status: number };
}

/** Terms and what stands for them; a term whose value is undefined or false is left out. */
export function facts(rows: readonly (readonly [term: string, value: Renderable])[]): Html {
  const shown = rows.filter(([, value]) => value !== undefined && value !== false);
  return html`<dl>
    ${shown.map(
      ([term, value]) =>
        html`<dt>${term}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

/** Asks before what cannot be undone, in a browser without scripts as well. */
export function confirmation({ to, csrf }: Visit, confirm: Confirmation): View {
  const { title, text, button, action, back, fields, problem } = confirm;
  return {
    title,
    ...(problem && { status: problem.status }),
    body: html`${problem?.message}
      <p>${text}</p>
      <form method="post" action="${to(action)}">
        ${csrf}${fields}
        <div class="actions">
          <button class="danger">${button}</button><a class="button quiet" href="${to(back)}">Cancel</a>
        </div>
      </form>`,
  };
}

interface Field {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password';
  readonly value?: string | undefined;
  readonly hint?: string;
  readonly problem?: string | undefined;
  /** The autofill token of HTML: `username`, `new-password`. */
  readonly autocomplete?: string;
  readonly maxLength?: number;
}

/** A labelled input; its hint and its problem are read out with it. */
export function field({ name, label, type = 'text', value, hint, problem, ...rest }: Field): Html {
  const described = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(' ');
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${hint && html`<small id="${name}-hint">${hint}</small>`}
    ${problem && html`<small class="problem" id="${name}-problem">${problem}</small>`}
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      value="${value ?? ''}"
      required
      ${[
        rest.autocomplete !== undefined && html` autocomplete="${rest.autocomplete}"`,
        rest.maxLength !== undefined && html` maxlength="${rest.maxLength}"`,
        described !== '' && html` aria-describedby="${described}"`,
        problem !== undefined && html` aria-invalid="true"`,
      ]}
    />
  </div>`;
}

/** Something failed; read out at once. */
export function alert(text: Renderable): Html {
  return html`<div class="alert" role="alert"><p>${text}</p></div>`;
}

export function notice(text: Renderable): Html {
  return html`<div class="notice" role="status"><p>${text}</p></div>`;
}

/** What was done on the way here, by `?done=`. */
export function doneNotice({ search }: Pick<Visit, 'search'>, words: Readonly<Record<string, string>>): Html | false {
  const done = search.get('done') ?? '';
  return Object.hasOwn(words, done) && notice(words[done]);
}

export function warning(text: Renderable): Html {
  return html`<div class="warning"><p>${text}</p></div>`;
}

/** A picture under its title, and behind a click the same as a table. */
export function figure({ title, svg, columns, rows, timed }: Picture): Html {
  return html`<figure>
    <figcaption>${title}${timed && html` <small data-utc>UTC</small>`}</figcaption>
    ${svg}
    ${
      rows.length > 0 &&
      html`<details class="figures">
        <summary>As a table<span class="hidden">: ${title}</span></summary>
        ${table({ label: title, columns, rows, empty: '' })}
      </details>`
    }
  </figure>`;
}

/** Text to take along. The button shows itself where a script can copy. `id` is unique in the page. */
export function copyable(id: string, text: string): Html {
  return html`<pre tabindex="0"><code id="${id}">${text}</code></pre>
    <p><button type="button" class="quiet small" data-copy="${id}" hidden>Copy</button></p>`;
}

/** UTC, to the minute. */
export function moment(date: Date): Html {
  const iso = date.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC</time>`;
}

/** `25 min`, `3 h`, `2 days`: how long ago, roughly. */
export function age(from: Date, now: Date): string {
  const minutes = Math.max(0, Math.round((now.getTime() - from.getTime()) / 60_000));
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2 * 24 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / (24 * 60))} days`;
}

/** A name that a stranger chose: without what would reorder or hide the text around it, and not longer than a name. */
export function plainName(name: string): string {
  const plain = name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const letters = Array.from(plain);
  return letters.length > 60 ? `${letters.slice(0, 60).join('')}…` : plain;
}

/** Such a name in a sentence, whichever way its letters run. */
export function strangersName(name: string): Html {
  return html`<bdi>${plainName(name)}</bdi>`;
}
