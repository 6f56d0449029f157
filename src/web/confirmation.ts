import { html } from './html.ts';
import type { Html, Renderable } from './html.ts';
import type { View, Visit } from './page.ts';

export interface Confirmation {
  /** As a question: "Revoke “CI”?" */
  readonly title: string;
  /** What will happen. */
  readonly text: Renderable;
  /** On the button. */
  readonly button: string;
  /** The page that acts, by POST, and the one to go back to. */
  readonly action: string;
  readonly back: string;
  /** More to choose. */
  readonly fields?: Html;
  /** Why it did not work. */
  readonly problem?: { readonly message: Html; readonly status: number };
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
