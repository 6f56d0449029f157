import type { Client, Connection } from '../../client-setup/client.ts';
import { copyable } from '../../components.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';

/** How each client is configured, one to unfold at a time. */
export function snippets(clients: readonly Client[], connection: Connection): Html {
  return html`${clients.map(
    (client) =>
      html`<details class="card">
        <summary>${client.title}</summary>
        ${client.snippets(connection).map(
          ({ title, text }, index) =>
            html`<p>${title}</p>
              ${copyable(`${client.name}-${index}`, text)}`,
        )}
      </details>`,
  )}`;
}
