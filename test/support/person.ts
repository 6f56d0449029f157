/*
 * A person at a browser without script: cookies, redirects, forms. What a page looks like is told by test/browser; this
 * tells what HTTP says, and how flows end.
 */

export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
}

export interface Form {
  readonly action: string;
  readonly fields: URLSearchParams;
  /** What each submit button adds: its name and value, by its text. */
  readonly buttons: ReadonlyMap<string, readonly [name: string, value: string] | undefined>;
}

const mostRedirects = 10;

export class Person {
  readonly #origin: string;
  readonly #cookies = new Map<string, string>();

  /** @param origin of the gateway; wherever else a redirect leads, the person does not go. */
  constructor(origin: string) {
    this.#origin = origin;
  }

  /** As the browser sends them. */
  get cookies(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  open(path: string): Promise<Page> {
    return this.#follow(new URL(path, this.#origin), { method: 'GET' });
  }

  /** Fills in the form of a page that has the button, and presses it. */
  async press(page: Page, button: string, values: Readonly<Record<string, string>> = {}): Promise<Page> {
    const form = formsOf(page.html).find(({ buttons }) => buttons.has(button));
    if (form === undefined) throw new Error(`no button "${button}" at ${page.url.href}:\n${readable(page.html)}`);
    const { action, fields, buttons } = form;
    for (const [name, value] of Object.entries(values)) fields.set(name, value);
    const pressed = buttons.get(button);
    if (pressed) fields.set(...pressed);
    return this.#follow(new URL(action, page.url), { method: 'POST', body: fields });
  }

  async signIn(email: string, password: string): Promise<Page> {
    return this.press(await this.open('/sign-in'), 'Sign in', { email, password });
  }

  async #follow(url: URL, init: RequestInit): Promise<Page> {
    let [at, sent] = [url, init];
    for (let turn = 0; turn < mostRedirects; turn += 1) {
      if (at.origin !== this.#origin) return { url: at, status: 0, headers: new Headers(), html: '' };
      const response = await fetch(at, {
        ...sent,
        redirect: 'manual',
        headers: {
          cookie: this.cookies,
          'sec-fetch-site': 'same-origin',
          ...(sent.method === 'POST' && { origin: this.#origin }),
        },
      });
      this.#keep(response.headers.getSetCookie());
      const html = await response.text();
      const location = response.headers.get('location') ?? response.headers.get('refresh')?.replace(/^0; url=/, '');
      if (location === undefined) {
        return { url: at, status: response.status, headers: response.headers, html };
      }
      [at, sent] = [new URL(location, at), { method: 'GET' }];
    }
    throw new Error(`more than ${mostRedirects} redirects from ${url.href}`);
  }

  #keep(set: readonly string[]): void {
    for (const cookie of set) {
      const [pair = '', ...attributes] = cookie.split(';');
      const equals = pair.indexOf('=');
      const [name, value] = [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()];
      const ended = attributes.some((text) => /^\s*(max-age=0|expires=thu, 01 jan 1970.*)\s*$/i.test(text));
      if (ended || value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
  }
}

export function formsOf(html: string): readonly Form[] {
  return [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)].map(([, attributes = '', body = '']) => {
    const fields = new URLSearchParams();
    for (const [tag] of body.matchAll(/<input\b[^>]*>/gi)) {
      const kind = attribute(tag, 'type') ?? 'text';
      const name = attribute(tag, 'name');
      if (name === undefined || kind === 'submit') continue;
      if ((kind === 'checkbox' || kind === 'radio') && !/\schecked\b/i.test(tag)) continue;
      fields.append(name, attribute(tag, 'value') ?? (kind === 'checkbox' ? 'on' : ''));
    }
    for (const [, tag = '', options = ''] of body.matchAll(/(<select\b[^>]*>)([\s\S]*?)<\/select>/gi)) {
      const chosen = /<option\b[^>]*\sselected\b[^>]*>/i.exec(options) ?? /<option\b[^>]*>/i.exec(options);
      const name = attribute(tag, 'name');
      if (name !== undefined && chosen) fields.append(name, attribute(chosen[0], 'value') ?? '');
    }
    const buttons = new Map(
      [...body.matchAll(/(<button\b[^>]*>)([\s\S]*?)<\/button>/gi)].map(([, tag = '', text = '']) => {
        const name = attribute(tag, 'name');
        return [readable(text), name === undefined ? undefined : ([name, attribute(tag, 'value') ?? ''] as const)];
      }),
    );
    return { action: attribute(attributes, 'action') ?? '', fields, buttons };
  });
}

/** Text as one reads it. */
export function readable(html: string): string {
  return decode(html.replace(/<(style|script)\b[\s\S]*?<\/\1>/gi, '').replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();
}

function attribute(tag: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, 'i').exec(` ${tag}`);
  const value = found?.[1] ?? found?.[2] ?? found?.[3];
  return value === undefined ? undefined : decode(value);
}

function decode(text: string): string {
  const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&', apos: "'" };
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|([a-z]+));/gi, (all, decimal, hex, name) => {
    if (typeof decimal === 'string') return String.fromCodePoint(Number(decimal));
    if (typeof hex === 'string') return String.fromCodePoint(Number.parseInt(hex, 16));
    return named[String(name)] ?? String(all);
  });
}
