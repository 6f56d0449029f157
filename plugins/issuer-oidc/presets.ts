import type { ClaimPath, EmailTrust } from './claims.ts';

/** What a provider does in its own way. The config may say otherwise key by key. */
export interface Preset {
  /** On the sign-in button. */
  readonly name: string;
  readonly claims: {
    readonly subject: ClaimPath;
    readonly email: ClaimPath;
    readonly emailVerified: ClaimPath;
    readonly name: ClaimPath;
    readonly groups: ClaimPath;
  };
  readonly emailTrust: EmailTrust;
  /** Of an access token, where it is another claim than in an ID token. */
  readonly tokenSubject?: ClaimPath;
  /** Whether it keeps address and name for its userinfo endpoint. */
  readonly userinfo: boolean;
  readonly clientAuthentication: 'client_secret_basic' | 'client_secret_post';
  /** What lets a person use another account, where its metadata does not say. */
  readonly anotherAccount: AccountPrompt;
  /** Whether its end-session endpoint can be used without the ID token, which is not kept. */
  readonly endsSession: boolean;
}

export type AccountPrompt = 'select_account' | 'login';

export const presetNames = ['generic', 'entra', 'okta', 'auth0', 'keycloak', 'google'] as const;
export type PresetName = (typeof presetNames)[number];

const generic: Preset = {
  name: 'your company',
  claims: {
    subject: ['sub'],
    email: ['email'],
    emailVerified: ['email_verified'],
    name: ['name'],
    groups: ['groups'],
  },
  emailTrust: 'verified',
  // OpenID Connect Core §5.4: with the code flow claims of scopes are had there.
  userinfo: true,
  clientAuthentication: 'client_secret_basic',
  anotherAccount: 'login',
  endsSession: true,
};

export const presets: Readonly<Record<PresetName, Preset>> = {
  generic,
  entra: {
    ...generic,
    name: 'Microsoft',
    // `sub` is another one for each application, and so for sign-in and API; `oid` is the person's in the tenant.
    // `email` may be anything its owner wrote unless the tenant owns the domain (xms_edov).
    claims: { ...generic.claims, subject: ['oid'], emailVerified: ['xms_edov'] },
    userinfo: false,
    clientAuthentication: 'client_secret_post',
    anotherAccount: 'select_account',
  },
  okta: {
    ...generic,
    name: 'Okta',
    endsSession: false,
    // In its access tokens `sub` is the login, which may be changed.
    tokenSubject: ['uid'],
  },
  auth0: { ...generic, name: 'Auth0', userinfo: false, clientAuthentication: 'client_secret_post' },
  keycloak: {
    ...generic,
    name: 'Keycloak',
    claims: { ...generic.claims, groups: ['realm_access', 'roles'] },
    userinfo: false,
  },
  google: {
    ...generic,
    name: 'Google',
    userinfo: false,
    clientAuthentication: 'client_secret_post',
    anotherAccount: 'select_account',
  },
};
