import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { main } from '../../support/gateway.ts';
import { nextOf } from './course.ts';
import type { Saw } from './kinds/kind.ts';
import { textsIn } from './models/format.ts';
import type { Place } from './place.ts';
import { endAllOf, runProgram, type Ran, type Running } from './process.ts';

const snippets = z.object({ snippets: z.array(z.object({ language: z.string(), text: z.string() })) });

/** One client's own home and project, and what it can do there. */
export class Stage {
  readonly place: Place;
  /** Where the client is installed. */
  readonly installed: string;
  readonly home: string;
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  readonly #closing = new AbortController();

  private constructor(place: Place, installed: string, directory: string) {
    this.place = place;
    this.installed = installed;
    this.home = join(directory, 'home');
    this.project = join(directory, 'project');
    const bin = join(directory, 'bin');
    this.env = {
      HOME: this.home,
      PATH: [bin, join(installed, 'node_modules/.bin'), process.env['PATH'] ?? ''].join(delimiter),
      BROWSER: join(bin, 'xdg-open'),
      // What decides on Linux whether a browser can be opened.
      DISPLAY: ':0',
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      TMPDIR: tmpdir(),
      SIGHTLINE_CLIENT_SECRET: place.key.client_secret,
    };
  }

  static async open(place: Place, installed: string): Promise<Stage> {
    const directory = await mkdtemp(join(tmpdir(), 'zoo-'));
    const stage = new Stage(place, installed, directory);
    for (const folder of ['home', 'project', 'bin']) await mkdir(join(directory, folder));
    const shim = join(directory, 'bin/xdg-open');
    await writeFile(shim, `#!/bin/sh\nprintf '%s\\n' "$1" >>"${stage.#opened}"\n`);
    await chmod(shim, 0o755);
    // Programs that bring an xdg-open of their own ask the desktop which browser is the person's.
    await stage.write(
      '~/.local/share/applications/zoo.desktop',
      `[Desktop Entry]\nType=Application\nExec=${shim} %u\n`,
    );
    const schemes = ['http', 'https'].map((scheme) => `x-scheme-handler/${scheme}=zoo.desktop\n`).join('');
    await stage.write('~/.config/mimeapps.list', `[Default Applications]\n${schemes}text/html=zoo.desktop\n`);
    place.model.say(nextOf);
    return stage;
  }

  get #opened(): string {
    return join(this.home, '..', 'opened');
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await endAllOf(this.home);
    await rm(join(this.home, '..'), { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  async write(path: string, text: string): Promise<void> {
    const file = join(path.startsWith('~/') ? this.home : this.project, path.replace(/^~\//, ''));
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, text);
  }

  /** Runs `sightline connect`, and answers what it printed for a shell. */
  async connect(client: string, ...words: readonly string[]): Promise<string> {
    const args = [main, 'connect', client, '--url', this.place.url, '--data', this.place.dataDirectory, '--json'];
    const ran = await runProgram(process.execPath, [...args, ...words], this.#running({ timeoutMs: 60_000 }));
    if (ran.code !== 0) throw new Error(`sightline connect ${client}: ${ran.output}`);
    const printed = snippets.parse(JSON.parse(ran.output)).snippets;
    return printed.flatMap(({ language, text }) => (language === 'sh' ? text : [])).join('\n');
  }

  /** A shell in the project, as a person has it. */
  async shell(script: string, how: Partial<Running> = {}): Promise<Ran> {
    return runProgram('sh', ['-e', '-c', script], this.#running(how));
  }

  /** What a script prints; standard error aside. */
  async printed(script: string): Promise<string> {
    const { code, output } = await this.shell(`{ ${script}; } 2>"$HOME/errors" || { cat "$HOME/errors"; exit 1; }`);
    if (code !== 0) throw new Error(output.trim().slice(-300));
    return output;
  }

  /** The same in a terminal, for programs that want one; wide, so that no address is broken. */
  async terminal(script: string, how: Partial<Running> = {}): Promise<Ran> {
    return this.shell(`exec script -qefc ${quoted(`stty cols 1000 rows 50; ${script}`)} /dev/null`, how);
  }

  #running({ env, ...how }: Partial<Running>): Running {
    return { cwd: this.project, timeoutMs: 90_000, signal: this.#closing.signal, ...how, env: { ...this.env, ...env } };
  }

  /** Waits until the client opens a browser, and lets it in there. */
  async allowInBrowser(): Promise<void> {
    const { allow } = this.place;
    if (allow === undefined) throw new Error('there is no Chromium (CHROMIUM_PATH)');
    for (let attempt = 0; attempt < 300; attempt += 1) {
      const [, url] = /^(http\S+)/m.exec(await readFile(this.#opened, 'utf8').catch(() => '')) ?? [];
      if (url !== undefined) return allow(url);
      await delay(100);
    }
    throw new Error('the client opened no browser in 30 s');
  }

  /** What the model was told. */
  get saw(): Saw {
    const { heard } = this.place.model;
    return {
      texts: heard.map(({ body }) => textsIn(body).join('\n')),
      results: heard.map(({ told }) => told.results.join('\n')),
    };
  }
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
