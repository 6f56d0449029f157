import { z } from 'zod';
import type { IngestTokens } from '../../../identity/verify/ingest-tokens.ts';
import { isId, SightlineError, type IngestTokenId } from '../../../contract/core/index.ts';
import { confirmation, copyable, doneNotice, facts, moment, table, warning } from '../../components.ts';
import { requireForm } from '../../forms.ts';
import { html, type Html } from '../../html.ts';
import { definePage, type MemberVisit } from '../../page.ts';
import type { IngestDescription, PageServices } from '../../services.ts';
import { authorsOf, ending, lastUse } from './key-words.ts';

const path = '/integrations/telemetry';

/** Where and how telemetry is sent, as `get_ingest_config` tells any member's client: the token is a member's to see, too. */
export const telemetryPage = definePage({
  path,
  access: 'member',
  async get(visit, services) {
    const described = await describe(visit, services);
    const ours = services.ingestTokens !== undefined;
    const tokens = services.ingestTokens && visit.role === 'admin' && (await tokenList(visit, services.ingestTokens));
    if (described instanceof SightlineError) {
      return {
        title: 'Send telemetry',
        body: html`<p>${described.message}</p>
          ${described.hint !== undefined && html`<p class="soft">${described.hint}</p>`} ${tokens}`,
      };
    }
    return {
      title: 'Send telemetry',
      body: html`${doneNotice(visit, done)}
        <p>
          ${ours ? 'Send OpenTelemetry (OTLP) here.' : 'This organization’s telemetry goes through a collector of its own, into the warehouse that is queried here.'}
        </p>
        ${facts(
          [
            ['Endpoint', described.endpoint] as const,
            ['Protocol', described.protocol] as const,
            ...(described.grpc_endpoint === undefined ? [] : [['gRPC endpoint', described.grpc_endpoint] as const]),
            ...Object.entries(described.signals).map(
              ([name, url]) => [`${name[0]?.toUpperCase()}${name.slice(1)}`, url] as const,
            ),
            ['Token', described.token] as const,
          ].map(([term, text]) => [term, html`<code>${text}</code>`]),
        )}
        ${ours && html`<p><a href="${visit.to('/telemetry')}">What came in, and what was refused</a></p>`}
        ${setUp(described)} ${tokens}`,
    };
  },
});

/** `not_found` is no failure of the page: there is nothing that can be sent, and the sentence says why. */
export async function describe(
  { organization }: MemberVisit,
  { ingest }: PageServices,
): Promise<IngestDescription | SightlineError> {
  try {
    return await ingest(organization.id);
  } catch (error) {
    if (error instanceof SightlineError && error.code === 'not_found') return error;
    throw error;
  }
}

/** What a sender is given: variables, what to install and start, the configuration of a collector. */
export function setUp(described: IngestDescription): Html {
  return html`${warning('The token can only write telemetry, but anyone who has it can write in this organization’s name. Keep it as a secret.')}
    <h2>For an application with an OpenTelemetry SDK</h2>
    ${copyable('environment', environment(described.env))} ${setups(described.setups)}
    <h2>For an OpenTelemetry collector</h2>
    ${copyable('collector', described.collector_yaml)}`;
}

const names: Readonly<Record<string, string>> = {
  node: 'Node.js',
  dotnet: '.NET',
  kubernetes: 'Kubernetes, with the OpenTelemetry operator',
  fluent_bit: 'Fluent Bit',
};

function setups(all: Readonly<Record<string, string>>): readonly Html[] {
  return Object.entries(all).map(
    ([name, text]) =>
      html`<details>
        <summary>${names[name] ?? `${name[0]?.toUpperCase()}${name.slice(1)}`}</summary>
        ${copyable(name, text)}
      </details>`,
  );
}

function environment(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}

const done = {
  rotated: 'There is a new token. The one before works until you end it below, once no sender uses it any more.',
  ended: 'The token is ended: what is sent with it is refused from now on.',
};

async function tokenList({ organization, workspace, to }: MemberVisit, tokens: Pick<IngestTokens, 'list'>) {
  const authorOf = await authorsOf(workspace);
  const listed = await tokens.list(organization.id);
  return html`<h2>Tokens</h2>
    ${table({
      label: 'Ingest tokens',
      columns: ['Token', 'Id', 'Made', 'By', 'Last used', 'Change'],
      rows: listed.map(({ id, lastFour, createdAt, createdBy, lastUsedAt }, index) => [
        html`${ending(lastFour)}${index === 0 && lastFour !== undefined && ' (shown above)'}`,
        html`<code>${id}</code>`,
        moment(createdAt),
        authorOf(createdBy),
        lastUse(lastUsedAt),
        html`<a class="button quiet small" href="${to(`${path}/tokens/${id}/end`)}"
          >End<span class="hidden"> …${lastFour}</span></a
        >`,
      ]),
      empty: 'There is none.',
    })}
    <p><a class="button quiet" href="${to(`${path}/rotate`)}">Rotate: make a new token</a></p>`;
}

async function useOf({ organization }: MemberVisit, services: PageServices, id: IngestTokenId): Promise<Html> {
  const found = (await tokensOf(services).list(organization.id)).find((token) => token.id === id);
  if (found === undefined) throw noToken();
  return html`It was ${found.lastUsedAt ? html`last used ${moment(found.lastUsedAt)}` : 'never used'}.`;
}

const rotateForm = z.object({ before: z.enum(['keep', 'end']) });

export const rotateTokenPage = definePage({
  path: `${path}/rotate`,
  access: 'admin',
  get(visit, services) {
    tokensOf(services);
    return confirmation(visit, {
      title: 'Rotate the ingest token?',
      text: 'A new token is made. Every sender has to be given it.',
      fields: html`<fieldset>
        <legend>The token before</legend>
        <div class="choice">
          <input type="radio" id="keep" name="before" value="keep" checked /><label for="keep"
            >Goes on working until I end it <small>Nothing is lost while senders change over.</small></label
          >
        </div>
        <div class="choice">
          <input type="radio" id="end" name="before" value="end" /><label for="end"
            >Ends at once
            <small>For a token that somebody else may have: what is sent with it is refused from now on.</small></label
          >
        </div>
      </fieldset>`,
      button: 'Rotate',
      action: `${path}/rotate`,
      back: path,
    });
  },
  async post({ organization, actor }, form, services) {
    const tokens = tokensOf(services);
    const { before } = requireForm(rotateForm, form);
    const { previous } = await tokens.rotate(organization.id, actor);
    if (previous === undefined || before === 'keep') return { redirect: `${path}?done=rotated` };
    await tokens.revoke(organization.id, previous, actor);
    return { redirect: `${path}?done=ended` };
  },
});

export const endTokenPage = definePage({
  path: `${path}/tokens/:id/end`,
  access: 'admin',
  async get(visit, services) {
    tokensOf(services);
    const id = tokenId(visit.params['id']);
    return confirmation(visit, {
      title: 'End an ingest token?',
      text: html`What is sent with <code>${id}</code> is refused from the next request on.
        ${await useOf(visit, services, id)}`,
      button: 'End the token',
      action: `${path}/tokens/${id}/end`,
      back: path,
    });
  },
  async post({ params, organization, actor }, _form, services) {
    await tokensOf(services).revoke(organization.id, tokenId(params['id']), actor);
    return { redirect: `${path}?done=ended` };
  },
});

function tokensOf({ ingestTokens }: PageServices): NonNullable<PageServices['ingestTokens']> {
  if (ingestTokens) return ingestTokens;
  throw new SightlineError('not_found', 'The token belongs to a collector that is not managed here.');
}

function tokenId(text: string | undefined): IngestTokenId {
  if (text !== undefined && isId('it', text)) return text;
  throw noToken();
}

function noToken(): SightlineError {
  return new SightlineError('not_found', 'There is no such ingest token in this organization.');
}
