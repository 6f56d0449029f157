export type Secrets = Readonly<Record<string, string>>;

/** Shorter ones would be found by chance. */
const shortest = 8;
/** Of a long one, enough to be worth something. */
const partLength = 24;

/** Names of the secrets that a text holds, as they are, in another writing, or a good part of them. */
export function leaksIn(text: string, secrets: Secrets): readonly string[] {
  for (const [name, secret] of Object.entries(secrets)) {
    if (secret.length < shortest)
      throw new Error(`${name} is no secret to be looked for: it has ${secret.length} characters`);
  }
  return Object.entries(secrets)
    .filter(([, secret]) => writings(secret).some((writing) => text.includes(writing)))
    .map(([name]) => name);
}

function writings(secret: string): readonly string[] {
  const whole = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
    Buffer.from(secret).toString('hex'),
  ];
  const parts = secret.length >= 2 * partLength ? [secret.slice(0, partLength), secret.slice(-partLength)] : [];
  // What all tokens of a kind begin with is none of theirs.
  return [...whole, ...parts.filter((part) => !/^(?:eyJ|http)/.test(part))];
}
