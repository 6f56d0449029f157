/*
 * In every test that runs a gateway or a command: what they log holds no secret. The output that makes one shows it, as plain
 * text on stdout; log records are JSON.
 */

/** What is made by a prefix, which is longer than an id: keys, tokens, links; signing secrets of webhooks; access tokens. */
const secret =
  /\b(?:aks|ads|als|dcs|it|pwd|scim)_[\w-]{40,}|\bwhsec_[\w+/]{20,}|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/;

/** Throws where a log record holds one. */
export function requireNoSecrets(output: string): void {
  for (const line of output.split('\n')) {
    if (line.startsWith('{') && secret.test(line)) throw new Error(`a secret is in the log: ${line.slice(0, 2_000)}`);
  }
}
