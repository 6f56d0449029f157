#!/usr/bin/env node
// Plain JavaScript that very old versions of Node can parse, so that they say what is wrong and not a syntax error.
import fs from 'node:fs';
import module from 'node:module';
import process from 'node:process';
import url from 'node:url';
import v8 from 'node:v8';

// A checkout has the sources, which Node runs as they are; the published package has them compiled.
const source = new URL('../src/main.ts', import.meta.url);
const isCheckout = fs.existsSync(source);
// Node 22 does not know `using`, and its own loader of TypeScript needs more address space than a DuckDB engine is given.
const required = isCheckout ? [24, 0, 0] : [22, 23, 2];

if (isOlder(process.versions.node.split('.').map(Number), required)) {
  const hint = isCheckout
    ? '; npm start and npm run sightline bring their own'
    : '; npm install node@24 in the same folder brings one for npx';
  process.stderr.write(
    `error: sightline needs Node.js ${required.join('.')} or later and this is ${process.versions.node}${hint}.\n`,
  );
  // 3, which service managers do not start again: the same Node.js will not do the next time either.
  process.exitCode = 3;
} else {
  // What is made while it starts lives long. V8 takes that for a rule, and in some starts for one of what each request makes, too: it
  // then collects all of the heap without end, with pauses of 10 ms, a third more CPU.
  v8.setFlagsFromString('--no-allocation-site-pretenuring');
  // Not in the shared temporary directory, where another user of the machine could lay compiled code for us to run.
  const cache = new URL('../node_modules/.cache/sightline', import.meta.url);
  // In the environment, so that threads find it: without it each loads the compiler of TypeScript, which takes 18 MB.
  process.env.NODE_COMPILE_CACHE = process.env.NODE_COMPILE_CACHE || url.fileURLToPath(cache);
  if (module.enableCompileCache) module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
  // So that a plugin's `sightline/contract/core` is the very one that runs, and not what was last built beside it.
  if (isCheckout) module.registerHooks({ resolve: resolveSources });
  const main = isCheckout ? source : new URL('../dist/src/main.js', import.meta.url);
  await import(main.href);
}

function isOlder(version, than) {
  const differing = than.findIndex((number, index) => number !== version[index]);
  return differing !== -1 && version[differing] < than[differing];
}

function resolveSources(specifier, context, next) {
  if (!specifier.startsWith('sightline/')) return next(specifier, context);
  return next(specifier, { ...context, conditions: [...context.conditions, 'sightline-source'] });
}
