import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  claimAt,
  textAt,
  textsAt,
  type ClaimPath,
  type Claims,
  domainOf,
  vouchedEmail,
  type MembershipRule,
} from './claims.ts';
import { identityOf, type IdentityRules } from './identity.ts';

const rules: IdentityRules = {
  issuer: 'https://idp.example',
  subject: ['sub'],
  email: ['email'],
  emailVerified: ['email_verified'],
  name: ['name'],
  trust: 'verified',
  memberships: [],
};
const acme = (rule: Partial<MembershipRule>): MembershipRule => ({ organization: 'Acme', role: 'member', ...rule });
const byDomain = acme({ emailDomains: ['acme.com'] });
const admins = acme({ role: 'admin', groups: { claim: ['groups'], anyOf: ['admins', 'owners'] } });
const alice = { sub: 'alice', email: 'alice@acme.com', email_verified: true };
const membershipsOf = (claims: Claims, ...memberships: MembershipRule[]) =>
  identityOf(claims, { ...rules, memberships })?.memberships;

/** As a provider may write them, with names that objects have of their own among them. */
const claimName = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', 'groups', 'email', 'sub'),
);
const anyClaims = fc
  .dictionary(claimName, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 8 })
  .map((value): Claims => JSON.parse(JSON.stringify(value)));
const anyPath = fc
  .tuple(claimName, fc.array(claimName, { maxLength: 2 }))
  .map(([first, [second, third]]): ClaimPath => {
    if (second === undefined) return [first];
    return third === undefined ? [first, second] : [first, second, third];
  });

describe('a claim', () => {
  it('is what stands at its path, of own properties alone', () => {
    const claims: Claims = JSON.parse(
      '{"https://acme.com/roles":["a"],"a.b":"dots","a":{"b":"nested"},"__proto__":{"admin":"yes"}}',
    );
    expect(textsAt(claims, ['https://acme.com/roles'])).toEqual(['a']);
    expect(textAt(claims, ['a.b'])).toBe('dots');
    expect(textAt(claims, ['a', 'b'])).toBe('nested');
    expect(textAt(claims, ['__proto__', 'admin'])).toBe('yes');
    for (const path of [['constructor'], ['toString'], ['a', 'constructor', 'name'], ['a', 'b', 'length']] as const) {
      expect(claimAt(claims, path)).toBeUndefined();
    }
  });

  it('is read without a throw, whatever was written', () => {
    fc.assert(
      fc.property(anyClaims, anyPath, (claims, path) => {
        const text = textAt(claims, path);
        expect(text === undefined || (typeof text === 'string' && text !== '')).toBe(true);
        for (const value of textsAt(claims, path)) expect(typeof value).toBe('string');
      }),
    );
  });

  it('that is a list of one text is no text', () => {
    expect(textAt({ email: ['alice@acme.com'] }, ['email'])).toBeUndefined();
  });
});

describe('an address', () => {
  it.each<[string, Claims, IdentityRules['trust'], string | undefined]>([
    ['the provider vouches for', { email_verified: true }, 'verified', alice.email],
    ['the provider vouches for in a text', { email_verified: 'true' }, 'verified', alice.email],
    ['the provider vouches for as Entra ID does', { email_verified: '1' }, 'verified', alice.email],
    ['it says nothing of', {}, 'verified', undefined],
    ['it does not vouch for', { email_verified: false }, 'verified', undefined],
    ['it does not vouch for in a text', { email_verified: 'false' }, 'verified', undefined],
    ['it vouches for in a list', { email_verified: [true] }, 'verified', undefined],
    ['it vouches for in an object', { email_verified: { value: true } }, 'verified', undefined],
    ['of a directory that is trusted', { email_verified: false }, 'always', alice.email],
    ['that is never believed', { email_verified: true }, 'never', undefined],
  ])('%s', (_name, claims, trust, expected) => {
    expect(vouchedEmail({ email: alice.email, ...claims }, {}, { ...rules, trust })).toBe(expected);
  });

  it.each([
    'alice',
    '@acme.com',
    'alice@',
    'alice@acme.com@evil.com',
    'alice@evil.com, alice@acme.com',
    'alice@acme.com ',
    'alice@acme.com\u0000',
    'alice@-acme.com',
    'alice@acme..com',
    'alice@acme.com.',
    // Each of these folds to a k or an s.
    'alice@\u212Aelvin.com',
    'alice@a\u017Fme.com',
    // Each of these is told apart from alice@acme.com by its provider, and not where addresses are compared here.
    '\uFF41lice@acme.com',
    'al\u2170ce@acme.com',
    `alice@${'a'.repeat(64)}.com`,
    `alice@${'a.'.repeat(130)}com`,
  ])('is not %j', (email) => {
    expect(domainOf(email)).toBeUndefined();
  });

  it('has the domain behind its only @, in small letters', () => {
    expect(domainOf('Alice.O\u2019Hara+x@Sub.ACME.com')).toBe('sub.acme.com');
  });
});

describe('memberships', () => {
  it('come by the domain of a vouched address, and of that domain alone', () => {
    expect(membershipsOf(alice, byDomain)).toEqual([{ organization: 'Acme', role: 'member' }]);
    for (const email of ['alice@evil-acme.com', 'alice@sub.acme.com', 'alice@acme.com.evil.com', 'acme.com']) {
      expect(membershipsOf({ ...alice, email }, byDomain)).toEqual([]);
    }
    expect(membershipsOf({ ...alice, email_verified: undefined }, byDomain)).toEqual([]);
    expect(membershipsOf({ ...alice, email: ['alice@acme.com'] }, byDomain)).toEqual([]);
  });

  it('come by a group, the stronger role whatever the order', () => {
    const claims = { ...alice, groups: ['everyone', 'owners'] };
    const admin = [{ organization: 'Acme', role: 'admin' }];
    expect(membershipsOf(claims, admins, byDomain)).toEqual(admin);
    expect(membershipsOf(claims, byDomain, admins)).toEqual(admin);
    expect(membershipsOf({ ...alice, groups: 'admins' }, admins)).toEqual(admin);
  });

  it.each<[string, unknown]>([
    ['missing', undefined],
    ['null', null],
    ['empty', []],
    ['another', ['adminsx', 'Admins', ' admins']],
    ['joined', 'admins owners'],
    ['nested', [['admins']]],
    ['an object', { admins: true, owners: true }],
    ['a list of objects', [{ name: 'admins' }]],
  ])('do not come by a claim that is %s', (_name, groups) => {
    expect(membershipsOf({ ...alice, groups }, admins)).toEqual([]);
  });

  it('ask for all that a rule says', () => {
    const both = acme({ emailDomains: ['acme.com'], groups: { claim: ['realm', 'roles'], anyOf: ['sre'] } });
    const claims = { ...alice, realm: { roles: ['sre'] } };
    expect(membershipsOf(claims, both)).toHaveLength(1);
    expect(membershipsOf({ ...claims, email: 'alice@evil.com' }, both)).toEqual([]);
    expect(membershipsOf({ ...claims, realm: {} }, both)).toEqual([]);
  });

  it('come by a claim that names the organization, one or several', () => {
    const named: MembershipRule = { role: 'member', organization: { claim: ['org'] } };
    expect(membershipsOf({ ...alice, org: 'Acme' }, named)).toEqual([{ organization: 'Acme', role: 'member' }]);
    expect(membershipsOf({ ...alice, org: ['Acme', 'Globex', 'Acme', 7, ''] }, named)).toHaveLength(2);
    expect(membershipsOf(alice, named)).toEqual([]);
    expect(() =>
      membershipsOf({ ...alice, org: Array.from({ length: 101 }, (_unused, index) => `org ${index}`) }, named),
    ).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });

  it.each<[string, Claims]>([
    ['named elsewhere', { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://x' } } }],
    ['named elsewhere, some of them here', { _claim_names: { groups: 'src1' }, groups: ['admins'] }],
    ['only hinted at', { hasgroups: true }],
  ])('are not guessed where groups are %s', (_name, claims) => {
    expect(() => membershipsOf({ ...alice, ...claims }, byDomain, admins)).toThrow(
      expect.objectContaining({ code: 'forbidden', message: expect.stringContaining('more groups than fit') }),
    );
    // Nothing asks for groups here.
    expect(membershipsOf({ ...alice, ...claims }, byDomain)).toHaveLength(1);
  });

  it('never come from nothing: what no rule names in the claims gives none', () => {
    const everyRule = [byDomain, admins, { role: 'admin', organization: { claim: ['org'] } } as const];
    fc.assert(
      fc.property(anyClaims, (claims) => {
        const text = JSON.stringify(claims);
        fc.pre(!/acme\.com|admins|owners|"org"|_claim_names|hasgroups/i.test(text));
        expect(identityOf({ ...claims, sub: 'x' }, { ...rules, memberships: everyRule })?.memberships).toEqual([]);
      }),
    );
  });
});

describe('an identity', () => {
  it('is issuer and subject, and what else may be believed', () => {
    expect(identityOf({ ...alice, name: ' Alice\u0007 ' }, rules)).toEqual({
      issuer: 'https://idp.example',
      subject: 'alice',
      email: 'alice@acme.com',
      name: 'Alice',
      memberships: [],
    });
    expect(identityOf({ sub: 'bob', email: 'bob@acme.com', name: 7 }, rules)).toEqual({
      issuer: 'https://idp.example',
      subject: 'bob',
      memberships: [],
    });
  });

  it('has a name that is whole letters, where it is cut too', () => {
    const name = identityOf({ ...alice, name: `${'a'.repeat(99)}\u{1F600}` }, rules)?.name;
    expect(name).toBe('a'.repeat(99));
  });

  it.each<[string, unknown]>([
    ['missing', undefined],
    ['a number', 7],
    ['a list', ['alice']],
    ['empty', ''],
    ['too long', 'a'.repeat(256)],
    ['with a line break', 'alice\nadmin'],
    ['of other letters', '\u0430lice'],
  ])('is none where the subject is %s', (_name, sub) => {
    expect(identityOf({ ...alice, sub }, rules)).toBeUndefined();
  });

  it('is of the company alone at Google', () => {
    const hosted = { ...rules, hostedDomains: ['acme.com'] };
    expect(identityOf({ ...alice, hd: 'acme.com' }, hosted)?.email).toBe('alice@acme.com');
    for (const hd of [undefined, 'evil.com', '', 'acme.com.evil.com', { 'acme.com': true }]) {
      expect(() => identityOf({ ...alice, hd }, hosted)).toThrow(expect.objectContaining({ code: 'forbidden' }));
    }
  });

  it('is read without a throw from whatever was written, and has no address but a vouched one', () => {
    const addressed = fc.record({
      email: fc.constantFrom('alice@acme.com', 'alice@evil.com', 'alice'),
      email_verified: fc.oneof(fc.constantFrom<unknown>(true, 'true', 1, '1', 0, '', 'yes', null), fc.jsonValue()),
    });
    let vouched = 0;
    fc.assert(
      fc.property(anyClaims, addressed, (claims, said) => {
        const identity = identityOf({ ...claims, ...said, sub: 'x' }, { ...rules, memberships: [byDomain, admins] });
        if (identity?.email === undefined) return;
        vouched += 1;
        expect([true, 'true', 1, '1']).toContain(said.email_verified);
      }),
    );
    expect(vouched).toBeGreaterThan(0);
  });
});
