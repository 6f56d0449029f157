import { evidenceLead } from '../../../contract/agent/index.ts';
import type { ChatMessage, Investigation, InvestigationStep } from '../../../contract/storage/index.ts';
import { copyable, moment } from '../../components.ts';
import { html, type Html } from '../../html.ts';
import { renderMarkdown } from '../../markdown/render.ts';
import { exploreHref, fromDayBefore, traceHref, type PathTo } from '../../paths.ts';
import { openQuery } from '../incidents/evidence.ts';
import { findingCards } from '../incidents/findings.ts';
import { marksOf } from '../incidents/rows.ts';

const mostParts = 100;

/** An investigation of the chat, by whose steps an answer is illustrated. */
export interface Behind {
  readonly investigation: Investigation;
  readonly steps: readonly InvestigationStep[];
}

export function messageHtml(message: ChatMessage, viewer: string, behind: readonly Behind[], to: PathTo): Html {
  const { seq, role, author, time, content } = message;
  const who = role === 'agent' ? 'The agent' : author.id === viewer ? 'You' : html`<bdi>${author.name}</bdi>`;
  return html`<article class="card" id="message-${seq}" aria-labelledby="author-${seq}">
    <h2 id="author-${seq}">${who} <small>${moment(time)}</small></h2>
    ${role === 'user' ? html`<p class="wrap" dir="auto">${content}</p>` : answerHtml(message, behind, to)}
  </article>`;
}

/** What the agent wrote, what that rests on as pictures, and the rest of its evidence behind a click. */
function answerHtml({ seq, time, content, parts }: ChatMessage, behind: readonly Behind[], to: PathTo): Html {
  const href = traceHref(to, fromDayBefore(time));
  const shown = parts.slice(0, mostParts);
  const [answer = '', ...evidence] = content.split(`\n\n${evidenceLead}\n`);
  const queries = shown.filter((part) => part.type === 'query');
  const isCited = (step: InvestigationStep): boolean =>
    queries.some(({ evidence_id: id, sql }) => step.evidence_id === id && step.sql === sql);
  const found = behind.find(({ steps }) => steps.some(isCited));
  const steps = found?.steps.filter(isCited) ?? [];
  const { cards, rest } = findingCards({
    claims: shown
      .filter((part) => part.type === 'finding')
      .map(({ evidence_id: id, text }) => ({ text, status: 'supported', evidence_ids: [id] })),
    steps,
    marks: marksOf(steps, found?.investigation.conclusion, { listed: [] }),
    place: `message-${seq}`,
    links: { to },
  });
  const unsaid = rest.filter(({ claim }) => !answer.includes(claim.text));
  return html`${renderMarkdown(answer, 2, href)}
  ${
    unsaid.length > 0 &&
    html`<h3>Findings</h3>
      ${unsaid.map(({ text }) => text)}`
  }
  ${cards.length > 0 && html`<div class="findings">${cards}</div>`}
  ${
    (evidence.length > 0 || queries.length > 0) &&
    html`<details>
      <summary>Evidence and its SQL</summary>
      ${evidence.length > 0 && renderMarkdown(evidence.join('\n\n'), 2, href)}
      ${queries.map(
        ({ evidence_id: id, sql }, index) =>
          html`<details>
            <summary>Query ${id}</summary>
            ${copyable(`sql-${seq}-${index}`, sql)} ${openQuery(exploreHref(to, { sql }), id)}
          </details>`,
      )}
    </details>`
  }`;
}
