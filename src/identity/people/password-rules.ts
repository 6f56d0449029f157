import { foldCase, SightlineError } from '../../contract/core/index.ts';

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

function refused(message: string): SightlineError {
  return new SightlineError('invalid_argument', message);
}
