import type { OutgoingHttpHeaders } from 'node:http';
import { formsOf } from '../../support/person.ts';
import { rawRequest, type RawAnswer } from '../../support/raw-http.ts';

/** Fields of a form; a field with several values is a list. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** A browser that keeps cookies and follows nothing by itself, so that a test sees each answer. */
export class TestBrowser {
  readonly cookies = new Map<string, string>();
  readonly #address: string;
  readonly #origin: string;
  readonly #host: string;

  constructor(address: string, authUrl: string) {
    this.#address = address;
    this.#origin = new URL(authUrl).origin;
    this.#host = new URL(authUrl).host;
  }

  /** The name of the cookie in which the session is. */
  get sessionCookie(): string {
    if (this.#origin.startsWith('https:')) return '__Host-sightline';
    const { port } = new URL(this.#origin);
    return port === '' ? 'sightline' : `sightline-${port}`;
  }

  get(path: string, headers: OutgoingHttpHeaders = {}): Promise<RawAnswer> {
    return this.#send(path, { method: 'GET', headers: { accept: 'text/html', ...headers } });
  }

  /** As a form of our own does it, unless `headers` say otherwise; `undefined` leaves one out. */
  post(path: string, fields: Fields, headers: OutgoingHttpHeaders = {}): Promise<RawAnswer> {
    return this.#send(path, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
        origin: this.#origin,
        accept: 'text/html',
        ...headers,
      },
      body: encode(fields),
    });
  }

  /** Opens a page, fills in its form for `action`, and sends it. */
  async submit(path: string, fields: Fields, action = path.split('?')[0] ?? path): Promise<RawAnswer> {
    const hidden = fieldsOf((await this.get(path)).text, action);
    return this.post(action, { ...hidden, ...fields });
  }

  async signIn(email: string, password: string, returnTo?: string): Promise<RawAnswer> {
    const query = returnTo === undefined ? '' : `?${new URLSearchParams({ return_to: returnTo }).toString()}`;
    return this.submit(`/sign-in${query}`, { email, password });
  }

  async csrf(path: string): Promise<string> {
    return csrfOf((await this.get(path)).text);
  }

  async #send(
    path: string,
    { headers, ...rest }: { method: string; headers: OutgoingHttpHeaders; body?: string },
  ): Promise<RawAnswer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const all: OutgoingHttpHeaders = { host: this.#host, ...(cookie !== '' && { cookie }), ...headers };
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    const answer = await rawRequest(`http://${this.#address}${path}`, { ...rest, headers: sent });
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
      if (/max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }
}

export function csrfOf(page: string): string {
  const found = /name="csrf" value="([^"]+)"/.exec(page)?.[1];
  if (found === undefined) throw new Error('the page has no form of ours');
  return found;
}

function fieldsOf(page: string, action: string): Record<string, string | string[]> {
  const form = formsOf(page).find((candidate) => candidate.action.endsWith(action));
  if (!form) throw new Error(`no form for ${action} in:\n${page}`);
  const fields: Record<string, string | string[]> = {};
  for (const name of new Set(form.fields.keys())) {
    const values = form.fields.getAll(name);
    fields[name] = values.length === 1 ? (values[0] ?? '') : values;
  }
  return fields;
}

function encode(fields: Fields): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const each of typeof value === 'string' ? [value] : value) search.append(name, each);
  }
  return search.toString();
}
