import type { z } from 'zod';
import type { PresetName } from './presets.ts';

interface Checked {
  readonly mode: 'broker' | 'resource-server';
  readonly preset: PresetName;
  readonly issuer?: string | undefined;
  readonly tenant?: string | undefined;
  readonly hostedDomains?: readonly string[] | undefined;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly privateKey?: string | undefined;
  readonly privateKeyId?: string | undefined;
  readonly clientAuthentication?: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  readonly accessTokens?:
    | {
        readonly audiences?: readonly string[] | undefined;
        readonly roles: Readonly<Record<string, unknown>>;
        readonly rolesClaim?: readonly string[] | undefined;
        readonly introspection?: { readonly clientSecret?: string | undefined } | undefined;
      }
    | undefined;
  readonly enterpriseManaged: { readonly enabled: boolean; readonly issuer?: string | undefined };
}

type Wrong = (path: readonly string[], message: string) => void;

/** What the protocol itself says in the request. */
const reserved = new Set([
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'redirect_uri',
  'request',
  'request_uri',
  'response_mode',
  'response_type',
  'scope',
  'state',
]);

/** What no key can say alone. */
export function checkConfig(config: Checked, context: z.RefinementCtx): void {
  const wrong = (path: readonly string[], message: string) =>
    context.addIssue({ code: 'custom', path: [...path], message });
  const { mode, preset, issuer, accessTokens, enterpriseManaged } = config;

  if (preset === 'entra') {
    if (config.tenant === undefined) wrong(['tenant'], 'the preset entra needs it');
  } else if (config.tenant !== undefined) wrong(['tenant'], 'only the preset entra has it');
  if (preset === 'google') {
    if (config.hostedDomains === undefined) wrong(['hostedDomains'], 'the preset google needs it');
    if (mode === 'resource-server') wrong(['mode'], "Google's access tokens are for Google alone: use broker");
  } else if (config.hostedDomains !== undefined) wrong(['hostedDomains'], 'only the preset google has it');
  if (issuer === undefined && preset !== 'entra' && preset !== 'google')
    wrong(['issuer'], `the preset ${preset} needs it`);
  const url = issuer === undefined ? null : URL.parse(issuer);
  if (url !== null) checkIssuer(url, config, wrong);

  if ((config.clientSecret === undefined) === (config.privateKey === undefined)) {
    wrong(['clientSecret'], 'say either clientSecret or privateKey');
  }
  if (config.privateKey === undefined && config.privateKeyId !== undefined) {
    wrong(['privateKeyId'], 'belongs to privateKey');
  }
  if (config.clientSecret === undefined && config.clientAuthentication !== undefined) {
    wrong(['clientAuthentication'], 'belongs to clientSecret');
  }
  for (const name of Object.keys(config.parameters)) {
    if (reserved.has(name)) wrong(['parameters', name], 'is said by the protocol');
  }

  if (mode === 'broker' && accessTokens !== undefined) wrong(['accessTokens'], 'only mode resource-server has it');
  if (mode === 'resource-server') checkAccessTokens(config, wrong);
  if (mode === 'resource-server' && enterpriseManaged.enabled) {
    wrong(['enterpriseManaged'], 'only mode broker has it: here the provider itself gives out the tokens');
  }
}

/** Providers at whose address everybody is: a rule for the addresses of a company would let strangers and leavers in. */
function checkIssuer({ hostname, pathname }: URL, { preset, tenant }: Checked, wrong: Wrong): void {
  if (preset === 'entra' && tenant !== undefined && !pathname.toLowerCase().includes(tenant.toLowerCase())) {
    wrong(['issuer'], 'is not of the tenant');
  }
  if (hostname.includes('microsoftonline.') && /^\/(common|organizations|consumers)\b/i.test(pathname)) {
    wrong(['issuer'], 'is of all tenants at once: name yours');
  }
  if (hostname === 'accounts.google.com' && preset !== 'google') {
    wrong(['preset'], 'must be google there, which tells accounts of your company from private ones');
  }
}

function checkAccessTokens(config: Checked, wrong: Wrong): void {
  const { preset, issuer, accessTokens } = config;
  if (preset === 'entra' && accessTokens?.audiences === undefined) {
    wrong(['accessTokens', 'audiences'], 'the preset entra needs it: the application id of your API');
  }
  if (preset === 'okta' && issuer !== undefined && !issuer.includes('/oauth2/')) {
    wrong(['issuer'], 'tokens of this one are for Okta alone: name an authorization server, …/oauth2/default');
  }
  if (accessTokens === undefined) return;
  if (accessTokens.audiences?.includes(config.clientId) === true && preset !== 'entra') {
    wrong(['accessTokens', 'audiences'], 'must not hold clientId, which is what ID tokens are for');
  }
  if (Object.keys(accessTokens.roles).length > 0 && accessTokens.rolesClaim === undefined) {
    wrong(['accessTokens', 'rolesClaim'], 'belongs to roles');
  }
  const { introspection } = accessTokens;
  if (introspection !== undefined && introspection.clientSecret === undefined && config.clientSecret === undefined) {
    wrong(['accessTokens', 'introspection', 'clientSecret'], 'is needed: privateKey cannot be used there');
  }
}
