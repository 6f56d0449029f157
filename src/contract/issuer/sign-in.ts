import type { Role } from './scopes.ts';

/** How a person proves in a browser who they are: by a password kept here, or at an identity provider. */
export type SignIn = PasswordSignIn | RedirectSignIn;

export interface PasswordSignIn {
  readonly kind: 'password';
}

/** The core keeps `state` in a sealed cookie, so that only the browser that began a sign-in can finish it. */
export interface RedirectSignIn {
  readonly kind: 'redirect';
  /** On the button: "Sign in with Okta". */
  readonly name: string;
  /**
   * Where to send the browser, and what `finish` needs again. `redirectUri` is registered at the provider. The URL has a
   * parameter `state`, and so has the callback's: it tells sign-ins of one browser apart.
   * @param another the person wants another account than the one the provider may know them by.
   */
  begin(redirectUri: string, another?: boolean): Promise<{ readonly url: string; readonly state: string }>;
  /** Where a browser ends its session at the provider; undefined where that cannot be had. */
  endSession?(): Promise<string | undefined>;
  /**
   * @param callback the URL the browser came back to, as the provider was told.
   * Throws `forbidden` with a sentence for the person, `unavailable` when the provider cannot be reached.
   */
  finish(callback: URL, state: string): Promise<ExternalIdentity>;
}

/** Who an identity provider says somebody is. `issuer` and `subject` are the identity; everything else may change. */
export interface ExternalIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** Only where the provider vouches for it. */
  readonly email?: string;
  readonly name?: string;
  /** Memberships that the configured rules derive from the claims. Sign-in needs at least one, from here or an invitation. */
  readonly memberships: readonly ExternalMembership[];
  /** An assertion for one client, which need not say the rest: memberships that the account has already stay as they are. */
  readonly partial?: boolean;
  /** Claims, by name, that the rules read and the token lacks. Such a token may add memberships and takes none away. */
  readonly absent?: readonly string[];
}

export interface ExternalMembership {
  /** Name or id. */
  readonly organization: string;
  readonly role: Role;
}
