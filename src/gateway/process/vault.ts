import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { chmod, link, readFile, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SightlineError, type Vault, errorCode } from '../../contract/core/index.ts';

const keyBytes = 32;
/** Given explicitly: Node accepts shorter tags by default. */
const tagBytes = 16;

/**
 * AES-256-GCM under keys derived from the master key, one a context. A sealed value names its key
 * (`v1.<key id>.<iv>.<ciphertext and tag>`), so that a master key can be replaced while values of the old one still open.
 * @param keys base64url of 32 bytes each; the first seals, all open.
 */
export function createVault(keys: readonly string[]): Vault {
  const ring = new Map<string, Buffer>();
  for (const text of keys) {
    const key = Buffer.from(text, 'base64url');
    if (key.length !== keyBytes) {
      throw new SightlineError('config_invalid', 'The master key is not 32 bytes in base64url.', {
        hint: 'Make one with: openssl rand -base64 32 | tr "+/" "-_" | tr -d "="',
      });
    }
    ring.set(createHash('sha256').update(key).digest('hex').slice(0, 8), key);
  }
  const [first] = ring;
  if (first === undefined) throw new SightlineError('config_invalid', 'There is no master key.');
  const [current, currentKey] = first;

  const derived = (key: Buffer, context: string, bytes = keyBytes): Buffer =>
    Buffer.from(hkdfSync('sha256', key, '', `sightline/${context}`, bytes));

  /** Derived once: signatures are made all the time, for the few contexts that the code names. */
  const signing = new Map<string, Buffer>();
  const mac = (id: string, text: string, context: string): Buffer | undefined => {
    const name = `${id} ${context}`;
    const master = signing.has(name) ? undefined : ring.get(id);
    if (master) signing.set(name, derived(master, `v1/sign/${context}`));
    const key = signing.get(name);
    return key && createHmac('sha256', key).update(text).digest();
  };

  return {
    derive: (context) => derived(currentKey, `derive/v1/${context}`, 16).toString('hex'),
    sign: (text, context) => `v1.${current}.${mac(current, text, context)?.toString('base64url')}`,
    verifies(signature, text, context) {
      const [version, id = '', given = ''] = signature.split('.');
      const right = version === 'v1' ? mac(id, text, context) : undefined;
      const shown = Buffer.from(given, 'base64url');
      return right !== undefined && shown.length === right.length && timingSafeEqual(shown, right);
    },
    seal(plain, context) {
      const key = derived(currentKey, `v1/${context}`);
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      return `v1.${current}.${iv.toString('base64url')}.${sealed.toString('base64url')}`;
    },
    open(sealed, context) {
      const [version, id = '', iv = '', body = ''] = sealed.split('.');
      const master = version === 'v1' ? ring.get(id) : undefined;
      if (!master) {
        throw new SightlineError('config_invalid', 'A stored secret was sealed with another master key.', {
          hint: 'Put the old master key back (SIGHTLINE_MASTER_KEY or master.key), behind the new one if there is one.',
        });
      }
      const key = derived(master, `v1/${context}`);
      const bytes = Buffer.from(body, 'base64url');
      try {
        const nonce = Buffer.from(iv, 'base64url');
        const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
        decipher.setAuthTag(bytes.subarray(-tagBytes));
        return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]);
      } catch (cause) {
        throw new SightlineError('config_invalid', 'A stored secret is damaged or stands in the wrong place.', {
          cause,
        });
      }
    },
  };
}

const unreadable: Readonly<Record<string, string>> = {
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EISDIR: 'it is a directory',
};

/** SIGHTLINE_MASTER_KEY (several, separated by spaces, while one is replaced), else `master.key`, made on first use. */
export async function loadMasterKeys(
  dataDirectory: string,
  fromEnvironment: string | undefined,
): Promise<readonly string[]> {
  if (fromEnvironment?.trim()) return fromEnvironment.trim().split(/\s+/);
  const file = join(dataDirectory, 'master.key');
  try {
    const text = await readFile(file, 'utf8');
    const mode = (await stat(file)).mode & 0o077;
    if (mode !== 0) await chmod(file, 0o600);
    return text.trim().split(/\s+/);
  } catch (cause) {
    if (errorCode(cause) !== 'ENOENT') {
      const why = unreadable[String(errorCode(cause))] ?? String(cause);
      throw new SightlineError('config_invalid', `The master key in ${file} cannot be read: ${why}.`, {
        hint: 'Run this as the user of the gateway, or check the owner and mode of the file.',
        cause,
      });
    }
  }
  // Written beside and linked, so that two processes on a first start agree on one key and neither reads half of it.
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `${randomBytes(keyBytes).toString('base64url')}\n`, { mode: 0o600, flush: true });
  try {
    await link(draft, file);
  } catch (cause) {
    if (errorCode(cause) !== 'EEXIST') throw cause;
  } finally {
    await unlink(draft);
  }
  return (await readFile(file, 'utf8')).trim().split(/\s+/);
}
