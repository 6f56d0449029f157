import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedServer } from '../test/support/postgres.ts';
import { judge } from './peers/bars.ts';
import { startBare } from './peers/bare.ts';
import type { Contender } from './peers/contender.ts';
import { readOnlyLogin } from './peers/database.ts';
import { startDbhub } from './peers/dbhub.ts';
import { install } from './peers/install.ts';
import { answerOf, lines, requestOf, titleOf, type Line } from './peers/lines.ts';
import { findGenerator } from './peers/load.ts';
import { race } from './peers/measure.ts';
import { mostConnections, pgbench } from './peers/pgbench.ts';
import { startSightline } from './peers/sightline.ts';
import { sizes } from './peers/size.ts';
import { table } from './peers/table.ts';
import { startToolbox } from './peers/toolbox.ts';

/*
 * Sightline beside the servers that do the same work, on one PostgreSQL and the same rows, in alternating rounds of one run:
 * Google's MCP Toolbox, Bytebase DBHub, and the limit, node:http and pg with nothing between, which lists the gateway's tools.
 * Each is as it is installed, ours with all its guards. CPU is that of the server's processes, and beside it of PostgreSQL's.
 * Usage: node bench/peers.ts [--quick] [what a line's name begins with]
 */

const names = process.argv.slice(2);
const quick = names.includes('--quick');
const wanted = names.find((name) => !name.startsWith('--'));
// Many short rounds: the speed of a shared machine changes within seconds, and then all servers of a round share it.
const rounds = quick ? 3 : 9;
// Of a second, what comes while 64 connections open is a hundredth, which is what p99 tells.
const secondsOf = ({ connections }: Line): number => (connections > 16 ? 3 : 1);

const stops: (() => Promise<unknown>)[] = [];
const stopping = <Started extends { stop(): Promise<unknown> }>(started: Started): Started => {
  stops.push(() => started.stop());
  return started;
};

async function toolsOf(contender: Contender): Promise<string> {
  const [line] = lines;
  if (line === undefined) throw new Error('there are no lines');
  const { url, speech, token } = contender;
  return await answerOf(url, requestOf(line, speech, token), line, speech);
}

const directory = await mkdtemp(join(tmpdir(), 'sl-peers-'));
try {
  const programs = await install();
  const generator = await findGenerator(directory);
  const server = stopping(await embeddedServer());
  const pidFile = String((await server.admin("SELECT pg_read_file('postmaster.pid')"))[0]?.[0]);
  const database = Number(pidFile.split('\n')[0]);

  const own = stopping(await startSightline(server, { storage: 'embedded', workers: 1 }));
  // Toolbox uses all processors too; DBHub and the limit are one process.
  const workers = stopping(
    await startSightline(server, { storage: 'embedded', workers: Math.max(2, availableParallelism()) }),
  );
  const variants = quick ? [] : [stopping(await startSightline(server, { storage: 'postgres', workers: 1 }))];
  const login = await readOnlyLogin(server, own.database);
  const speech = { spans: 'telemetry.spans', logs: 'telemetry.logs' };
  const toolbox = stopping(await startToolbox(programs.toolbox, directory, login, speech));
  const dbhub = stopping(await startDbhub(programs.dbhub, directory, login, speech));
  const url = server.url(login.database, login.user, login.password);
  const limit = stopping(await startBare(directory, url, { ...speech, tool: own.speech.tool }, await toolsOf(own)));

  const contenders = [own, workers, toolbox, dbhub, limit];
  const verdicts: string[] = [];
  const how = `${rounds} rounds of 1 s in turns, of 3 s over 64 connections, warmed until an answer costs no less, medians; load by ${generator.name} on the same machine; pgbench over ${mostConnections} connections at most`;
  console.log(`${server.name}; ${how}.\nLoad average before: ${loadavg()[0]?.toFixed(1) ?? ''}.\n`);
  console.log('Guards on each call:');
  for (const { name, guards } of [...contenders, ...variants]) console.log(`  ${name}: ${guards}`);
  for (const line of lines) {
    if (quick && line.quick !== true) continue;
    if (wanted !== undefined && !titleOf(line).startsWith(wanted)) continue;
    const { sql } = line;
    const all = line.quick === true ? [...contenders, ...variants] : contenders;
    const seconds = secondsOf(line);
    const results = await race(line, all, { generator, database, rounds, seconds });
    const most = sql && (await pgbench(directory, login, sql(limit.speech), line.connections, seconds));
    console.log(`\n${table(line, results, { toolbox, dbhub, limit }, most)}`);
    verdicts.push(...judge(line, results, { toolbox, dbhub, limit }, [own, workers], rounds));
  }
  if (wanted === undefined) console.log(`\n${await sizes([own, toolbox, dbhub], own)}`);
  if (verdicts.length > 0) console.log(`\nWhat must hold:\n  ${verdicts.join('\n  ')}`);
  console.log(`\nLoad average after: ${loadavg()[0]?.toFixed(1) ?? ''}.`);
} finally {
  for (const stop of stops.toReversed()) await stop().catch((error: unknown) => console.error(error));
  await rm(directory, { recursive: true, force: true });
}
