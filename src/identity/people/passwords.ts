import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { createWorkQueue, type Place } from '../../limits/work-queue.ts';
import { foldCase, SightlineError } from '../../contract/core/index.ts';

/** Hashes passwords. At most two are computed at once, each of which takes 128 MiB and a thread of Node's four. */
export interface Passwords {
  /** @param party queued in the lane `known`. */
  hash(password: string, party: string): Promise<string>;
  /** Costs the same where there is no hash to compare with. `unavailable` when too many wait. */
  verify(password: string, hash: string | undefined, place: Place): Promise<Verdict>;
}

interface Verdict {
  readonly right: boolean;
  /** Right, and hashed at another cost than is used now. */
  readonly outdated: boolean;
}

const blockSize = 8;
const keyBytes = 32;
const format = /^\$scrypt\$ln=(\d{1,2}),r=8,p=1\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;
const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);
/** @param cost `logN` is log2 of scrypt's N. 17 is what OWASP asks for: 128 MiB, some 0.3 s. */
export function createPasswords({ logN = 17 }: { readonly logN?: number } = {}): Passwords {
  const queue = createWorkQueue({ atOnce: 2, mostWaiting: 32, full: tooManyAtOnce });

  function compute(password: string, salt: Buffer, cost: number): Promise<Buffer> {
    const N = 2 ** cost;
    // Node's own limit is 32 MiB. The same characters may be typed as different code points.
    const options = { N, r: blockSize, p: 1, maxmem: 256 * N * blockSize };
    return derive(password.normalize('NFKC'), salt, keyBytes, options);
  }

  return {
    async hash(password, party) {
      const salt = randomBytes(16);
      const key = await queue.run({ lane: 'known', party }, () => compute(password, salt, logN));
      return `$scrypt$ln=${logN},r=${blockSize},p=1$${unpadded(salt)}$${unpadded(key)}`;
    },

    async verify(password, hash, place) {
      const kept = hash === undefined ? undefined : parse(hash);
      const against = kept ?? { logN, salt: randomBytes(16), key: randomBytes(keyBytes) };
      const key = await queue.run(place, () => compute(password, against.salt, against.logN));
      const right = timingSafeEqual(key, against.key) && kept !== undefined;
      return { right, outdated: right && against.logN !== logN };
    },
  };
}

/** Throws for what no version of ours wrote: the store is damaged. */
function parse(hash: string) {
  const [, cost = '', salt = '', key = ''] = format.exec(hash) ?? [];
  if (cost === '' || Number(cost) > 20) throw new TypeError('a password hash is damaged');
  return { logN: Number(cost), salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

const fewest = 10;
const most = 256;

/** Without the digits and signs that people put around them. */
const commonWords = new Set(
  (
    'password passwort passw0rd p@ssw0rd p@ssword pa$$word pa$$w0rd motdepasse contraseña qwerty qwertz azerty qwertyuiop qwertzuiop azertyuiop ' +
    'asdfghjkl zxcvbnm qazwsx qazwsxedc iloveyou letmein welcome admin administrator changeme secret ' +
    'superman batman football baseball basketball princess sunshine dragon monkey master shadow starwars ' +
    'michael jennifer computer internet whatever trustno login test testtest default temp temporary summer winter spring autumn ' +
    'sightline'
  ).split(' '),
);

/** Those that are all digits, or whose digits are the point. */
const commonTexts = new Set(
  (
    '1234567890 0123456789 0987654321 9876543210 12345678910 1234567891 123456789a 12345678900 11223344556677 1122334455 ' +
    '1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx3edc 1qazxsw23edc q1w2e3r4t5 qwe123qwe123 abc123abc123 a123456789 aa12345678 ' +
    'abcdefghij abcdefghijk abcdefghijklmnopqrstuvwxyz 3141592653 3141592654 1029384756 qwertyuiop[] ' +
    'passwordpassword correcthorsebatterystaple'
  ).split(' '),
);

/** By NIST SP 800-63B: no rules of composition. Throws `invalid_argument` with a sentence for the person. */
export function checkPassword(password: string, email: string): void {
  const folded = foldCase(password);
  const length = Array.from(password.normalize('NFKC')).length;
  if (length < fewest) throw refused(`A password needs at least ${fewest} characters. A few words in a row are good.`);
  if (length > most) throw refused(`A password has at most ${most} characters.`);
  const [name = ''] = foldCase(email).split('@');
  if (name.length >= 3 && folded.includes(name)) {
    throw refused('The password must not contain the name in your e-mail address.');
  }
  const word = folded.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  const repeated = /^(.{1,5}?)\1+.?$/u.test(folded);
  if (repeated || commonTexts.has(folded) || commonWords.has(word)) {
    throw refused('This password is among the first that others try. Choose another, such as a few words in a row.');
  }
}

function tooManyAtOnce(): SightlineError {
  const message = 'Too many people are signing in at this moment. Try again in a few seconds.';
  return new SightlineError('unavailable', message, { retryAfterSeconds: 5 });
}

function refused(message: string): SightlineError {
  return new SightlineError('invalid_argument', message);
}
