import { spawn, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

/*
 * All benchmarks one after another, on the machine it runs on, or those that are named; writes bench/RESULTS.md, where the
 * others keep what they said. Usage: npm run bench [-- quick | gate rows …]; quick takes seconds in place of minutes and
 * writes nothing.
 */

const names = process.argv.slice(2);
const quick = names[0] === 'quick';
const benches: readonly { readonly title: string; readonly script: string; readonly args: readonly string[] }[] = [
  { title: 'The endpoint', script: 'endpoint.ts', args: quick ? ['1', '1'] : ['4', '5'] },
  { title: 'Peers', script: 'peers.ts', args: quick ? ['--quick'] : [] },
  { title: 'The audit under load', script: 'audit.ts', args: quick ? ['1', '1'] : ['5', '5'] },
  { title: 'Overload', script: 'overload.ts', args: quick ? ['2', '1'] : ['8', '5'] },
  { title: 'Fairness', script: 'fairness.ts', args: quick ? ['1', '1'] : ['5', '5'] },
  { title: 'Start and idle memory', script: 'startup.ts', args: quick ? ['1'] : ['7'] },
  { title: 'Token exchange', script: 'token.ts', args: quick ? ['1'] : [] },
  { title: 'The SQL gate', script: 'gate.ts', args: quick ? ['1'] : ['20'] },
  { title: 'A thousand rows', script: 'rows.ts', args: quick ? ['20'] : ['300'] },
  { title: 'Queries beside the engine', script: 'queries.ts', args: quick ? ['0.02', '3'] : ['1,10', '9'] },
  { title: 'An investigation', script: 'investigation.ts', args: quick ? ['0.05', '1'] : ['2', '2'] },
  { title: 'OTLP ingest, as much as is answered', script: 'ingest.ts', args: quick ? ['5'] : ['60'] },
  { title: 'OTLP ingest, 30,000 spans a second', script: 'ingest.ts', args: quick ? ['5', '30000'] : ['60', '30000'] },
  { title: 'After kill -9 under load', script: 'recovery.ts', args: quick ? ['1'] : ['5'] },
  { title: 'After kill -9 of everything, fifty times', script: 'kill-all.ts', args: quick ? ['2'] : ['50'] },
  { title: 'An hour of soak', script: 'soak.ts', args: ['--seconds', quick ? '15' : '3600'] },
  { title: 'Chaos', script: 'chaos.ts', args: quick ? ['20'] : ['600'] },
];

const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
const results = join(import.meta.dirname, 'RESULTS.md');
const processors = cpus();
const machine = [
  `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown processor'}`,
  `${Math.round(totalmem() / 2 ** 30)} GiB`,
  `${process.platform} ${process.arch}`,
  `Node ${process.versions.node}`,
].join(', ');
const [head = '', ...before] = (await readFile(results, 'utf8')).split(/^## /m);
const sections = new Map<string, string>();
for (const section of before) {
  sections.set(section.slice(0, section.indexOf('\n')), `## ${section.trimEnd()}\n`);
}
const chosen =
  quick || names.length === 0 ? benches : benches.filter(({ script }) => names.includes(script.slice(0, -3)));
if (chosen.length === 0)
  throw new Error(
    `there is no such benchmark; there are ${benches.map(({ script }) => script.slice(0, -3)).join(', ')}`,
  );
let failed = '';
for (const { title, script, args } of chosen) {
  process.stdout.write(`\n## ${title}\n`);
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
    process.stdout.write(String(chunk));
  });
  const [code] = await once(child, 'close');
  const ended = code === 0 ? '' : `, ended with ${String(code)}`;
  if (ended !== '') failed += `bench/${script}${ended}\n`;
  // What missed its bar is a result too; what said nothing is none.
  if (output === '') continue;
  const ran = `\`node bench/${[script, ...args].join(' ')}\`, commit ${commit}, ${new Date().toISOString().slice(0, 10)}, on ${machine}${ended}`;
  sections.set(title, `## ${title}\n\n${ran}\n\n\`\`\`text\n${output.trimEnd()}\n\`\`\`\n`);
}

// Those of other machines and of benches that are run by hand stay as they are.
if (!quick) await writeFile(results, [head.trimEnd(), '', ...sections.values()].join('\n'));
if (failed !== '') {
  process.stderr.write(failed);
  process.exitCode = 1;
}
