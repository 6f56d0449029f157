import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, matchesGlob } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../support/gateway.ts';
import { cleanEnvironment, trackedFiles } from './checkout.ts';

const run = promisify(execFile);

export interface Image {
  /** Where the image's `/` is on this machine. */
  readonly root: string;
  readonly from: string;
  readonly workingDirectory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly volumes: readonly string[];
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

type Draft = { -readonly [Key in keyof Image]: Image[Key] };

/** What `docker build` sends: the repository's files, less what .dockerignore leaves out. */
export async function copyContext(to: string): Promise<void> {
  const rules = (await readFile(join(root, '.dockerignore'), 'utf8'))
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const isSent = (path: string): boolean =>
    rules.reduce((sent, rule) => {
      const isException = rule.startsWith('!');
      const pattern = isException ? rule.slice(1) : rule;
      return matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`) ? isException : sent;
    }, true);
  for (const path of (await trackedFiles()).filter(isSent)) await cp(join(root, path), join(to, path));
}

/**
 * Follows the Dockerfile's steps with this machine's Node and npm instead of the base image: an image's `/` is a directory
 * below `directory`. An instruction that is not known here is an error.
 */
export async function followDockerfile(context: string, directory: string): Promise<Image> {
  const stages = new Map<string, Draft>();
  let stage: Draft | undefined;
  for (const line of instructions(await readFile(join(root, 'Dockerfile'), 'utf8'))) {
    const [, word = '', rest = ''] = /^([A-Z]+) (.*)$/s.exec(line) ?? [];
    if (word === 'FROM') {
      const [, from = '', name = 'image'] = /^(\S+)(?: AS (\S+))?$/.exec(rest) ?? [];
      stage = { ...empty, from, root: join(directory, name) };
      await mkdir(stage.root);
      stages.set(name, stage);
    } else if (stage === undefined) {
      throw new Error(`before any FROM: ${line}`);
    } else {
      await follow(stage, word, rest, { context, stages });
    }
  }
  if (stage === undefined) throw new Error('the Dockerfile has no stage');
  return stage;
}

const empty: Draft = {
  root: '',
  from: '',
  workingDirectory: '/',
  env: {},
  user: 'root',
  volumes: [],
  entrypoint: [],
  command: [],
  healthcheck: [],
};

async function follow(
  stage: Draft,
  word: string,
  rest: string,
  { context, stages }: { readonly context: string; readonly stages: ReadonlyMap<string, Draft> },
): Promise<void> {
  const inside = (path: string): string =>
    join(stage.root, isAbsolute(path) ? path : join(stage.workingDirectory, path));
  switch (word) {
    case 'WORKDIR':
      stage.workingDirectory = rest;
      await mkdir(inside('.'), { recursive: true });
      return;
    case 'ENV': {
      const [, name = '', value = ''] = /^(\w+)=(\S+)$/.exec(rest) ?? [];
      stage.env = { ...stage.env, [name]: value };
      return;
    }
    case 'COPY': {
      const words = rest.split(' ');
      const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined;
      const source = from === undefined ? context : stages.get(from)?.root;
      const target = words.pop();
      if (source === undefined || target === undefined) throw new Error(`COPY ${rest}: there is no such stage`);
      for (const path of words) {
        const found = join(source, path);
        const isFile = (await stat(found)).isFile();
        const to = isFile && target.endsWith('/') ? join(inside(target), basename(path)) : inside(target);
        await cp(found, to, { recursive: true, verbatimSymlinks: true });
      }
      return;
    }
    case 'RUN':
      // Absolute paths are the image's own.
      await run('sh', ['-ec', rest.replaceAll(/(?<= )\//g, `${stage.root}/`)], {
        cwd: inside('.'),
        env: cleanEnvironment(stage.env),
        maxBuffer: 10_000_000,
      });
      return;
    case 'USER':
      stage.user = rest;
      return;
    case 'VOLUME':
      stage.volumes = [...stage.volumes, rest];
      return;
    case 'HEALTHCHECK':
      stage.healthcheck = words(rest.slice(rest.indexOf(' CMD ') + ' CMD '.length));
      return;
    case 'ENTRYPOINT':
      stage.entrypoint = words(rest);
      return;
    case 'CMD':
      stage.command = words(rest);
      return;
    case 'EXPOSE':
      return;
    default:
      throw new Error(`not known here: ${word} ${rest}`);
  }
}

function instructions(text: string): readonly string[] {
  return text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
}

/** The form of an instruction that no shell reads. */
function words(json: string): readonly string[] {
  const parsed: unknown = JSON.parse(json);
  if (!Array.isArray(parsed)) throw new Error(`not a list: ${json}`);
  return parsed.map(String);
}
