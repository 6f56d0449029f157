/** The provider gave no answer that could be used: says nothing about who asks. */
export class ProviderUnreachable extends TypeError {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ProviderUnreachable';
  }
}

/** Key sets and Entra's metadata are a few kB; a token with hundreds of groups stays below 64. */
const maxBytes = 256 * 1024;

/** `fetch` for talks with the provider: follows no redirect, reads no more than is sane, and tells an outage from an answer. */
export async function providerFetch(url: string, init: RequestInit): Promise<Response> {
  let response: Response;
  let content: Uint8Array<ArrayBuffer>;
  try {
    response = await fetch(url, { ...init, redirect: 'manual' });
    content = await readAll(response);
  } catch (error) {
    throw error instanceof ProviderUnreachable ? error : new ProviderUnreachable('the request failed', error);
  }
  if (response.status >= 500 || response.status === 429) {
    throw new ProviderUnreachable(`the answer was ${response.status}`);
  }
  const { status, headers } = response;
  return new Response(status === 204 || status === 304 ? null : content, { status, headers });
}

async function readAll(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cancels the body.
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > maxBytes) throw new ProviderUnreachable('the answer was too large');
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}
