import { loadavg } from 'node:os';
import { clickhouse } from './queries/clickhouse.ts';
import { duckdb } from './queries/duckdb.ts';
import { bar, heat, measure, rowOf } from './queries/measure.ts';
import { postgres } from './queries/postgres.ts';
import { questionsOf } from './queries/questions.ts';
import { dataOf, traceIdOf } from './queries/spans.ts';
import type { Engine } from './queries/stage.ts';

/*
 * Five questions about spans, on each engine: the statement through query_otel of a running gateway beside the same one over
 * the engine's own table by the engine's own client, in alternating rounds of one run, medians; first both must give the same
 * rows. The bar: 1.1 times the engine's own time and 2 ms.
 * Usage: node bench/queries.ts [millions of spans, 1,10] [rounds, 9] [engines, duckdb,postgres,clickhouse]
 */

const engines: readonly Engine[] = [duckdb, postgres, clickhouse];
const [millions = '1,10', rounds = '9', names = engines.map(({ name }) => name).join(',')] = process.argv.slice(2);

function say(what: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${what}\n`);
}

async function run(engine: Engine, spans: number): Promise<void> {
  const data = dataOf(spans);
  const begun = performance.now();
  const seconds = () => ((performance.now() - begun) / 1_000).toFixed(0);
  await using stack = new AsyncDisposableStack();
  const stage = await engine.start(data, stack, (loaded) => {
    say(`${engine.name}: ${loaded.toLocaleString('en')} of ${spans.toLocaleString('en')} spans after ${seconds()} s`);
  });
  const filled = `loaded in ${seconds()} s`;
  say(`${engine.name}: ${filled}`);
  const [[traceId] = []] = await stage.own.ask(`SELECT ${traceIdOf(stage.words, data)}`);
  if (typeof traceId !== 'string') throw new Error('the engine did not name a trace');
  await heat(stage, data);
  const rows = [];
  for (const question of questionsOf(stage.write, data, traceId)) {
    rows.push(rowOf(await measure(stage, question, Number(rounds))));
    say(`${engine.name}: ${question.name}`);
  }
  console.log(`\n${spans.toLocaleString('en')} spans in ${stage.title}; ${filled}`);
  console.table(rows);
}

const wanted = engines.filter(({ name }) => names.split(',').includes(name));
if (wanted.length === 0) throw new Error(`there are ${engines.map(({ name }) => name).join(', ')}`);
console.log(`${rounds} rounds in turns, medians in ms; load average before: ${loadavg()[0]?.toFixed(1) ?? ''}.`);
console.log(`It holds where the tool takes at most ${bar.times} times the engine's own time and ${bar.plusMs} ms.`);
console.log('BigQuery is left out: there is only a stand-in for it here.');
for (const size of millions.split(',')) {
  for (const engine of wanted) await run(engine, Math.round(Number(size) * 1_000_000));
}
console.log(`Load average after: ${loadavg()[0]?.toFixed(1) ?? ''}.`);
