import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { question } from '../course.ts';
import type { Stage } from '../stage.ts';
import type { Reply, Running } from '../process.ts';
import type { Kind, Saw } from './kind.ts';

/** A coding agent on the command line, which speaks to a model. */
export interface Agent extends Pick<Kind, 'name' | 'title' | 'packages' | 'limits'> {
  readonly program: string;
  /** Its words, with which it answers the question `$QUESTION` and ends. */
  readonly ask: string;
  /** What makes it speak to the stub. */
  readonly model: (url: string) => NodeJS.ProcessEnv;
  /** Settings of its own that no person who has used it before would lack. */
  readonly prepare?: (stage: Stage) => Promise<void>;
  /** Before it asks, for a token: what `sightline connect` wrote and printed, unless it does not know the client. */
  readonly configure?: (stage: Stage) => Promise<string>;
  /** Signs in by a browser; or why not. */
  readonly signIn: ((stage: Stage, run: Run) => Promise<unknown>) | string;
}

/** Runs a script in which the agent's name alone means its question. */
export type Run = (script: string, how?: Partial<Running> & { readonly terminal?: boolean }) => Promise<string>;

export function agent(client: Agent): Kind {
  const { name, program, ask, signIn, prepare, configure = connectWithKey(name) } = client;
  const runOn =
    (stage: Stage): Run =>
    async (script, { terminal = false, ...how } = {}) => {
      const meaning = `${program}() { if [ $# -eq 0 ]; then command ${program} ${ask}; else command ${program} "$@"; fi; }`;
      const env = { QUESTION: question, ...client.model(stage.place.model.url), ...how.env };
      const whole = `${meaning}\n${script}`;
      return (await (terminal ? stage.terminal(whole, { ...how, env }) : stage.shell(whole, { ...how, env }))).output;
    };
  const asked = async (stage: Stage, script: string): Promise<Saw> => {
    const output = await runOn(stage)(script);
    const { saw } = stage;
    if (saw.results.every((text) => text === '')) throw new Error(`no tool was called: ${ending(output)}`);
    return saw;
  };
  return {
    ...client,
    async bearer(stage) {
      await prepare?.(stage);
      const script = await configure(stage);
      return asked(stage, script.endsWith(`\n${program}`) ? script : `${script}\n${program}`);
    },
    oauth:
      typeof signIn === 'string'
        ? signIn
        : async (stage) => {
            await prepare?.(stage);
            await signIn(stage, runOn(stage));
            return asked(stage, program);
          },
  };
}

function connectWithKey(name: string): (stage: Stage) => Promise<string> {
  return async (stage) => {
    const key = ['--key', stage.place.key.client_id];
    return stage.connect(name, ...key, '--write').catch(() => stage.connect(name, ...key));
  };
}

/** Runs what opens a browser, and lets it in there. */
export async function throughBrowser(stage: Stage, running: Promise<unknown>): Promise<void> {
  await Promise.all([running, stage.allowInBrowser()]);
}

/** Types into a program's window what opens a browser; the window is closed some time after the person has allowed it. */
export async function throughWindow(stage: Stage, run: Run, command: string, replies: readonly Reply[]): Promise<void> {
  const allowed = stage.allowInBrowser();
  const until = allowed.then(() => delay(3_000));
  await Promise.all([allowed, run(`command ${command}`, { terminal: true, replies, until })]);
}

function ending(output: string): string {
  return stripVTControlCharacters(output).trim().slice(-300).replaceAll(/\s+/g, ' ');
}
