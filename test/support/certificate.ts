import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate that signs itself, for these host names, until 2049. */
export function selfSigned(...hosts: readonly string[]): Certificate {
  return certificateUntil('491231235959Z', hosts);
}

/** The same, which ended in 2023. */
export function expired(...hosts: readonly string[]): Certificate {
  return certificateUntil('231231235959Z', hosts);
}

/** P-256, from 2020 (X.509, RFC 5280). */
function certificateUntil(end: string, hosts: readonly string[]): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(Buffer.from('06082a8648ce3d040302', 'hex'));
  // Unlike every other's: an issuer is looked up by its name.
  const commonName = sequence(Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from(randomUUID())));
  const name = sequence(der(0x31, commonName));
  const names = sequence(...hosts.map((host) => der(0x82, Buffer.from(host))));
  const subjectAltName = sequence(Buffer.from('0603551d11', 'hex'), der(0x04, names));
  const authority = sequence(Buffer.from('0603551d13', 'hex'), der(0x04, sequence(der(0x01, Buffer.from([0xff])))));
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from(end))),
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, sequence(subjectAltName, authority)),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const certificate = sequence(toBeSigned, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  const base64 = certificate.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}
