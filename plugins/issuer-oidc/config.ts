import { z } from 'zod';
import { flag } from '../../src/contract/core/index.ts';
import { authorizationServerSchema, roles, scopes } from '../../src/contract/issuer/index.ts';
import { type ClaimPath, emailTrusts } from './claims.ts';
import { presetNames } from './presets.ts';

const claimName = z.string().min(1).max(200);
const claimPath = z
  .union([claimName, z.array(claimName).min(1).max(6)])
  .transform((value): ClaimPath => {
    const [first = '', ...rest] = typeof value === 'string' ? [value] : value;
    return [first, ...rest];
  })
  .describe('Name of the claim; a list of names for a nested one');

const providerUrl = z.string().refine(isProviderUrl, 'must be an https URL without query or fragment');

const oneOrMore = (item: z.ZodString) =>
  z.union([item, z.array(item).min(1).max(500)]).transform((value) => (typeof value === 'string' ? [value] : value));

const domain = z
  .string()
  .regex(/^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/, 'must be a domain such as example.com')
  .toLowerCase();

const membership = z
  .strictObject({
    organization: z.string().min(1).max(200).optional().describe('Name or id'),
    organizationClaim: claimPath.optional().describe('Claim that contains its name or id'),
    role: z.enum(roles).default('member').describe('Role that the rule gives'),
    emailDomain: oneOrMore(domain).optional().describe('Domains of verified e-mail addresses'),
    group: oneOrMore(z.string().min(1).max(500)).optional().describe('Groups, one of which must be in the claim'),
    claim: claimPath.optional().describe('Claim to look up the group in, if not claims.groups'),
  })
  .refine((rule) => (rule.organization === undefined) !== (rule.organizationClaim === undefined), {
    message: 'say either organization or organizationClaim',
  })
  .refine(
    (rule) => rule.organizationClaim !== undefined || rule.emailDomain !== undefined || rule.group !== undefined,
    {
      message: 'say who: emailDomain or group',
    },
  )
  .refine((rule) => rule.claim === undefined || rule.group !== undefined, { message: 'claim belongs to group' });

const scopeMap = z.record(z.string().min(1).max(500), z.array(z.enum(scopes)).min(1)).default({});

/** Of an OAuth client's own credentials at the provider. */
const credential = z.string().min(1).max(4_096);

const accessTokens = z
  .strictObject({
    audiences: z
      .array(z.string().min(1).max(500))
      .min(1)
      .optional()
      .describe('Accepted values of `aud`, if the provider cannot put the MCP endpoint there'),
    subject: claimPath.optional(),
    organization: claimPath.optional().describe('Claim that names the organization'),
    scopes: scopeMap.describe('Scopes of the provider, each with the scopes of Sightline that it grants'),
    scopePrefix: z
      .string()
      .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be the beginning of a scope')
      .optional()
      .describe('Prefix of scopes in requests but not in tokens; Entra ID: api://…/'),
    rolesClaim: claimPath.optional(),
    roles: scopeMap.describe('Roles of the person, each with the scopes of Sightline that it grants'),
    introspection: z
      .strictObject({
        endpoint: providerUrl.describe('URL of the introspection endpoint'),
        clientId: credential.optional().describe('Client id, if it differs from that of the sign-in'),
        clientSecret: credential.optional().describe('Client secret, if it differs from that of the sign-in'),
      })
      .optional()
      .describe('Token introspection (RFC 7662), for opaque tokens'),
  })
  .describe('How to read access tokens of the provider; only with mode resource-server');

const checked = authorizationServerSchema.extend({
  mode: z
    .enum(['broker', 'resource-server'])
    .default('broker')
    .describe('Who issues access tokens: Sightline (broker) or the provider (resource-server)'),
  preset: z.enum(presetNames).default('generic').describe('Provider whose claims and quirks are known'),
  issuer: providerUrl.optional().describe('Issuer URL, exactly as the provider writes it'),
  tenant: z.guid().optional().describe('Entra ID: id of the directory (tenant)'),
  hostedDomains: z.array(domain).min(1).optional().describe('Google: domains of your company'),
  name: z.string().min(1).max(60).optional().describe('Name on the sign-in button: Sign in with …'),
  clientId: credential.describe('Client id that the provider gave to Sightline'),
  clientSecret: credential.optional().describe('Client secret; give it as ${env:…} or ${file:…}'),
  privateKey: z
    .string()
    .min(1)
    .optional()
    .describe('Private key (PKCS #8 PEM) in place of a secret, for private_key_jwt'),
  privateKeyId: z.string().min(1).max(200).optional().describe('Key id (kid) of the private key'),
  clientAuthentication: z
    .enum(['client_secret_basic', 'client_secret_post'])
    .optional()
    .describe('How the secret is sent to the token endpoint; by default that of the preset'),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be a scope'))
    .default(['openid', 'email', 'profile'])
    .refine((list) => list.includes('openid'), 'must hold openid')
    .describe('Scopes of the sign-in request'),
  parameters: z
    .record(z.string().min(1), z.string())
    .default({})
    .describe('Additional parameters of the sign-in request: prompt, organization, kc_idp_hint, …'),
  userinfo: flag.optional().describe('Whether to read claims from the userinfo endpoint, too'),
  claims: z
    .strictObject({
      subject: claimPath.optional(),
      email: claimPath.optional(),
      emailVerified: claimPath.optional(),
      name: claimPath.optional(),
      groups: claimPath.optional(),
    })
    .prefault({}),
  emailTrust: z.enum(emailTrusts).optional().describe('When an e-mail address is trusted'),
  memberships: z.array(membership).max(500).default([]).describe('Rules that make people members of organizations'),
  accessTokens: accessTokens.optional(),
  enterpriseManaged: z
    .strictObject({
      enabled: flag.default(false).describe('Whether assertions are accepted'),
      issuer: providerUrl.optional().describe('Issuer of the assertions, if it differs from issuer'),
    })
    .prefault({})
    .describe('Enterprise-managed authorization: exchanges ID-JAG assertions for tokens'),
});

export const configSchema = checked.superRefine(checkConfig);

export type OidcConfig = z.output<typeof configSchema>;

function isProviderUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, search, hash, username } = new URL(value);
  if (search !== '' || hash !== '' || username !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

type Checked = z.output<typeof checked>;
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
function checkConfig(config: Checked, context: z.RefinementCtx): void {
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
