import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { defaultLoaders } from 'cosmiconfig';
import { z } from 'zod';
import { root } from '../../support/gateway.ts';

const run = promisify(execFile);
const objects = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });
export type Rendered = z.output<typeof objects>;

export interface Helm {
  /** The objects of the chart for a release called `acme`. Rejects with what the chart says. */
  template(values: object): Promise<{ readonly objects: readonly Rendered[]; readonly notes: string }>;
}

/** Undefined where Debian's Go and its libraries are not installed, unless every suite has to run. */
export async function buildHelm(directory: string): Promise<Helm | undefined> {
  const program = join(directory, 'helm');
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: join(directory, 'cache') };
  try {
    await run('go', ['build', '-o', program, join(import.meta.dirname, 'helm/main.go')], { env });
  } catch (error) {
    if (process.env['REQUIRE_SERVICES'] === '1') throw error;
    process.stderr.write('not run: the Helm chart, as there is no Go with sprig; .ci/programs installs them\n');
    return undefined;
  }
  return { template: (values) => template(program, values) };
}

async function template(program: string, values: object): ReturnType<Helm['template']> {
  const child = spawn(program, [join(root, 'deploy/helm'), 'acme'], { stdio: ['pipe', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  child.stdin.end(JSON.stringify(values));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(stderr);
  const { 'NOTES.txt': notes = '', ...files } = z.record(z.string(), z.string()).parse(JSON.parse(stdout));
  const documents = Object.entries(files).flatMap(([name, text]) =>
    text
      .split(/^---$/m)
      .filter((document) => document.trim() !== '')
      .map((document) => objects.parse(defaultLoaders['.yaml'](name, document))),
  );
  return { notes, objects: documents };
}
