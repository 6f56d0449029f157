import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/*
 * All benchmarks one after another, on the machine it runs on; writes bench/RESULTS.md.
 * Usage: npm run bench [-- quick], where quick takes seconds in place of minutes and writes nothing.
 */

const quick = process.argv[2] === 'quick';
const benches: readonly { readonly title: string; readonly script: string; readonly args: readonly string[] }[] = [
  { title: 'The endpoint', script: 'endpoint.ts', args: quick ? ['1', '1'] : ['4', '5'] },
  { title: 'Start and idle memory', script: 'startup.ts', args: quick ? ['1'] : ['7'] },
  { title: 'Token exchange', script: 'token.ts', args: quick ? ['1'] : [] },
  { title: 'The SQL gate', script: 'gate.ts', args: quick ? ['1'] : ['20'] },
  { title: 'A thousand rows', script: 'rows.ts', args: quick ? ['20'] : ['300'] },
  { title: 'OTLP ingest, as much as is answered', script: 'ingest.ts', args: quick ? ['5'] : ['60'] },
  { title: 'OTLP ingest, 30,000 spans a second', script: 'ingest.ts', args: quick ? ['5', '30000'] : ['60', '30000'] },
  { title: 'After kill -9 under load', script: 'recovery.ts', args: quick ? ['1'] : ['5'] },
];

let report = '';
for (const { title, script, args } of benches) {
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
  if (code !== 0) throw new Error(`bench/${script} ended with ${String(code)}`);
  report += `\n## ${title}\n\n\`node bench/${[script, ...args].join(' ')}\`\n\n\`\`\`text\n${output.trimEnd()}\n\`\`\`\n`;
}

if (!quick) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const processors = cpus();
  const machine = [
    `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown processor'}`,
    `${Math.round(totalmem() / 2 ** 30)} GiB`,
    `${process.platform} ${process.arch}`,
    `Node ${process.versions.node}`,
  ].join(', ');
  const head = `# Benchmarks\n\nWritten by \`npm run bench\` on ${new Date().toISOString().slice(0, 10)}, commit ${commit}.\nMachine: ${machine}. Load generators run on the same machine.\n`;
  await writeFile(join(import.meta.dirname, 'RESULTS.md'), head + report);
}
