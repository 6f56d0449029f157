import { createRequire } from 'node:module';

// A CommonJS dependency of jest's own, which is not resolvable from here by name.
const require = createRequire(createRequire(import.meta.url).resolve('jest'));
const { default: Sequencer } = createRequire(require.resolve('@jest/core'))('@jest/test-sequencer');

const rank = (path) => ['/src/', '/plugins/', '/test/'].findIndex((folder) => path.includes(folder));

/** The fast ones first: the core's, the plugins', then what needs a whole gateway. */
export default class FastFirst extends Sequencer {
  sort(tests) {
    return [...tests].sort((a, b) => rank(a.path) - rank(b.path) || a.path.localeCompare(b.path));
  }
}
