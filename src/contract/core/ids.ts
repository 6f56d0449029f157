import { randomBytes, hash, timingSafeEqual } from 'node:crypto';

declare const brand: unique symbol;

/** A string that only the functions below may make, so that one kind of id never stands in for another. */
export type Id<Prefix extends string> = string & { readonly [brand]: Prefix };

export type OrganizationId = Id<'org'>;
export type UserId = Id<'usr'>;
/** An API key's public half: `ak_…`. */
export type KeyId = Id<'ak'>;
/** A key of the admin interface. */
export type AdminKeyId = Id<'adk'>;
export type SecretId = Id<'sec'>;
export type IngestTokenId = Id<'it'>;
export type AlertSourceId = Id<'als'>;
export type IncidentId = Id<'inc'>;
export type InvestigationId = Id<'inv'>;
/** What a person granted to an OAuth client. */
export type GrantId = Id<'gra'>;
export type InvitationId = Id<'invt'>;
export type ScimTokenId = Id<'sct'>;
/** A person as an identity provider provisions them in one organization. */
export type ScimUserId = Id<'scu'>;
export type ScimGroupId = Id<'scg'>;
export type ChatId = Id<'chat'>;
export type MessageId = Id<'msg'>;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** A new id: prefix, 48-bit millisecond time and 80 random bits in Crockford base 32, so ids of one kind sort by age. */
export function newId<Prefix extends string>(prefix: Prefix, now: number = Date.now()): Id<Prefix> {
  let time = '';
  for (let rest = now, digit = 0; digit < 10; digit += 1) {
    time = alphabet.charAt(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  let random = '';
  for (const byte of randomBytes(16)) random += alphabet.charAt(byte & 31);
  return brandId(`${prefix}_${time}${random}`);
}

/** Whether `value` is written like an id of this kind. It says nothing about whether the thing exists. */
export function isId<Prefix extends string>(prefix: Prefix, value: string): value is Id<Prefix> {
  return value.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(value.slice(prefix.length + 1));
}

/** Reads an id that our own store wrote; a value of another shape is a bug or a damaged store, so it throws. */
export function toId<Prefix extends string>(prefix: Prefix, value: unknown): Id<Prefix> {
  if (typeof value === 'string' && isId(prefix, value)) return value;
  throw new TypeError(`not an id of kind ${prefix}`);
}

function brandId<Prefix extends string>(value: string): Id<Prefix> {
  // The one place where a brand is given: both callers have made or checked the text.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return value as Id<Prefix>;
}

/** Text as it is compared where case does not matter, by our rule and not by a database's: names of organizations, e-mail addresses. */
export function foldCase(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** SHA-256, hex. A slow hash would buy nothing on 256 random bits, and would let strangers spend our processor. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Whether two hashes made by `hashSecret` are the same, in a time that does not depend on where they differ. */
export function equalHashes(left: string, right: string): boolean {
  const a = Buffer.from(left, 'latin1');
  const b = Buffer.from(right, 'latin1');
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * A new secret: the prefix, an underscore and 256 random bits in base64url. Only `[A-Za-z0-9_-]` occurs in it, since many
 * OAuth clients send HTTP Basic without form-encoding, and it never begins with `-`, which a shell command would take for
 * a flag.
 */
export function generateSecret(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}
