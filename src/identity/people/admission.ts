import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { foldCase, SightlineError } from '../../contract/core/index.ts';
import type { ExternalTokenClaims } from '../../contract/issuer/index.ts';
import type { Organization } from '../../contract/storage/index.ts';
import type { Account, Identities } from './identity-sign-in.ts';
import type { Admission } from './people.ts';

/** Whose an identity provider's token is, and for which organization. */
type Admit = (claims: Pick<ExternalTokenClaims, 'identity' | 'organization'>) => Promise<Admission>;

/** The verifier checks account and membership on every request, so that this cache extends no access. */
const keptMs = 300_000;
const capacity = 10_000;

/** What came of the last that was said of a person: anything older may have been undone by it. */
interface Kept {
  readonly said: string;
  readonly admission: Admission;
  readonly until: number;
}

interface UnderWay {
  readonly said: string;
  readonly admission: Promise<Admission>;
}

export function createAdmit({ identities, now }: { readonly identities: Identities; readonly now: () => Date }): Admit {
  const kept = new LRUCache<string, Kept>({ max: capacity });
  const underWay = new Map<string, UnderWay>();

  async function readmit(person: string, said: string, claims: Parameters<Admit>[0]): Promise<Admission> {
    kept.delete(person);
    try {
      const admission = choose(await identities.account(claims.identity), claims.organization);
      kept.set(person, { said, admission, until: now().getTime() + keptMs });
      return admission;
    } finally {
      underWay.delete(person);
    }
  }

  return async (claims) => {
    // An assertion is exchanged once, without a later look-up of the account.
    if (claims.identity.partial === true) return choose(await identities.account(claims.identity), claims.organization);
    const person = JSON.stringify([claims.identity.issuer, claims.identity.subject]);
    const said = fingerprint(claims);
    for (;;) {
      const known = kept.get(person);
      if (known?.said === said && known.until > now().getTime()) return known.admission;
      const other = underWay.get(person);
      if (other === undefined) break;
      if (other.said === said) return other.admission;
      // One after another, so that what is kept is what was made so last.
      await other.admission.catch(() => {});
    }
    const admission = readmit(person, said, claims);
    underWay.set(person, { said, admission });
    return admission;
  };
}

function choose({ user, memberships }: Account, wanted: string | undefined): Admission {
  const [only, ...others] = memberships;
  if (wanted !== undefined) {
    const found = memberships.find(({ organization }) => isNamed(organization, wanted));
    if (found !== undefined) return { userId: user.id, organizationId: found.organization.id };
    throw new SightlineError('forbidden', 'The token names an organization of which its owner is no member.');
  }
  if (only !== undefined && others.length === 0) return { userId: user.id, organizationId: only.organization.id };
  throw new SightlineError(
    'forbidden',
    'The owner of this token belongs to several organizations, and the token names none of them. ' +
      'Have the identity provider put the organization into a claim, or sign in with an account of one organization.',
  );
}

function isNamed({ id, name }: Organization, wanted: string): boolean {
  return id === wanted || foldCase(name) === foldCase(wanted.trim());
}

function fingerprint({ identity, organization }: Parameters<Admit>[0]): string {
  const { absent, email, memberships } = identity;
  const text = JSON.stringify([email, organization, absent, memberships.map((each) => [each.organization, each.role])]);
  return hash('sha256', text, 'base64');
}
