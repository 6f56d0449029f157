import type { Claim, Conclusion, InvestigationStep } from '../../../contract/storage/index.ts';
import { figure } from '../../components.ts';
import { html, type Html } from '../../html.ts';
import { renderInline } from '../../markdown/render.ts';
import { isTraceId, traceHref } from '../../paths.ts';
import { stepDetails, type StepLinks } from './evidence.ts';
import { stepPicture } from './comparison.ts';
import { isTrace, tracePicture, type Shown } from './pictures.ts';

const mostCards = 8;
const mostClaims = 50;

/** By evidence id. */
type Steps = ReadonlyMap<string, InvestigationStep>;

/** What was found, each finding with a picture of its evidence; SQL and rows are behind a click. */
export function findings({ conclusion, steps, marks }: Shown, links: StepLinks): Html | undefined {
  if (conclusion === undefined || conclusion.claims.length === 0) return undefined;
  const byId = new Map(steps.map((step) => [step.evidence_id, step]));
  // What an example shows is told beside it.
  const claims = conclusion.claims.filter((claim) => !isOfTrace(claim, byId)).slice(0, mostClaims);
  const { cards, rest } = findingCards({ claims, steps, marks, place: 'finding', links });
  return html`<section aria-labelledby="findings">
    <h2 id="findings">What was found</h2>
    <div class="findings">
      ${cards} ${rest.length > 0 && html`<div class="card">${rest.map(({ text }) => text)}</div>`}
    </div>
    ${notChecked(conclusion)}
  </section>`;
}

interface Told extends Pick<Shown, 'steps' | 'marks'> {
  readonly claims: readonly Claim[];
  /** Begins the ids of its elements. */
  readonly place: string;
  readonly links: StepLinks;
}

/** A card for each claim whose evidence can be drawn, and the other claims as text. A step is drawn once. */
export function findingCards({ claims, steps, marks, place, links }: Told): {
  readonly cards: readonly Html[];
  readonly rest: readonly { readonly claim: Claim; readonly text: Html }[];
} {
  const byId = new Map(steps.map((step) => [step.evidence_id, step]));
  const drawn = new Set<InvestigationStep>();
  const told = claims.map((claim, at) => {
    const fresh = claim.evidence_ids.flatMap((id) => byId.get(id) ?? []).filter((step) => !drawn.has(step));
    for (const step of fresh) drawn.add(step);
    const [picture] = fresh.flatMap(
      (step) => stepPicture(step, { id: `${place}-${at}`, marks, about: claim.text }) ?? [],
    );
    const behind = fresh.map(
      (step) =>
        html`<details>
          <summary>${step.evidence_id}: SQL and rows</summary>
          ${stepDetails(step, `${place}-${at}-${step.seq}`, links)}
        </details>`,
    );
    return { claim, picture, behind };
  });
  const pictured = told.filter(({ picture }) => picture !== undefined).slice(0, mostCards);
  return {
    cards: pictured.map(
      ({ claim, picture, behind }) =>
        html`<article class="card">${claimText(claim, byId, links)}${picture && figure(picture)}${behind}</article>`,
    ),
    rest: told
      .filter((one) => !pictured.includes(one))
      .map(({ claim, behind }) => ({ claim, text: html`${claimText(claim, byId, links)}${behind}` })),
  };
}

function claimText({ text, status, evidence_ids: ids }: Claim, byId: Steps, { to }: StepLinks): Html {
  const href = traceHref(to, byId.get(ids[0] ?? '')?.window);
  return html`<p>
    ${status === 'hypothesis' && html`<em>Perhaps:</em> `}${renderInline(text, href)}${ids.length > 0 && html` <small>(${ids.join(', ')})</small>`}
  </p>`;
}

function notChecked({ not_checked: left = [] }: Conclusion): Html | undefined {
  return left.length === 0 ? undefined : html`<p class="soft">Not checked: ${renderInline(left.join('; '))}.</p>`;
}

const mostTraces = 2;
const mostSpans = 20;

/** The traces that were looked at, the bad one first. */
export function traces({ conclusion, steps }: Shown, links: StepLinks): Html | undefined {
  const found = steps.flatMap((step) => {
    const picture = tracePicture(step, `trace-${step.seq}`, mostSpans);
    return picture ? [{ step, picture }] : [];
  });
  // The tree and the critical path of one trace are two steps.
  const once = found
    .filter(({ step }, index) => found.findIndex((other) => traceOf(other.step) === traceOf(step)) === index)
    .slice(0, mostTraces);
  if (once.length === 0) return undefined;
  const byId = new Map(steps.map((step) => [step.evidence_id, step]));
  return html`<section aria-labelledby="traces">
    <h2 id="traces">Traces</h2>
    ${(conclusion?.claims ?? []).filter((claim) => isOfTrace(claim, byId)).map((claim) => claimText(claim, byId, links))}
    ${once.map(
      ({ step, picture }) =>
        html`<div class="card">
          ${figure({ ...picture, title: `Trace ${traceOf(step)}` })}
          <p class="soft">
            ${picture.description} <small>(${step.evidence_id})</small>
            ${isTraceId(traceOf(step)) && html`<a href="${traceHref(links.to, step.window)(traceOf(step))}">Open the trace</a>`}
          </p>
        </div>`,
    )}
  </section>`;
}

function isOfTrace({ evidence_ids: ids }: Claim, byId: Steps): boolean {
  return ids.some((id) => {
    const step = byId.get(id);
    return step !== undefined && isTrace(step);
  });
}

function traceOf({ question, evidence_id: id }: InvestigationStep): string {
  return /\b[0-9a-f]{32}\b/.exec(question)?.[0] ?? id;
}
