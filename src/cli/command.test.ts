import { describe, expect, it } from '@jest/globals';
import type { Settings } from '../gateway/wiring/settings.ts';
import { invocation } from './command.ts';
import { pasteable } from './output.ts';

const npm = { npm_package_name: 'sightline', npm_command: 'start' };

describe('the command that a first start prints', () => {
  it.each<[string, string, NodeJS.ProcessEnv, Settings, string]>([
    ['a checkout', '/src/bin/sightline.js', npm, {}, 'npm run -s sightline --'],
    ['a script of a checkout', '/src/bin/sightline.js', { ...npm, npm_command: 'run' }, {}, 'npm run -s sightline --'],
    ['one under npm 10', '/src/bin/sightline.js', { ...npm, npm_command: 'run-script' }, {}, 'npm run -s sightline --'],
    [
      'a checkout with a data directory and a port',
      '/src/bin/sightline.js',
      npm,
      { data: 'elsewhere', port: 9000 },
      'npm run -s sightline -- --data /home/ada/elsewhere --port 9000',
    ],
    ['npx', '/p/node_modules/.bin/sightline', { npm_command: 'exec' }, {}, 'npx sightline'],
    ['a package', '/home/ada/node_modules/.bin/sightline', {}, {}, 'npx sightline'],
    ['a command on the path', '/usr/local/bin/sightline', {}, {}, 'sightline'],
    [
      'a container',
      '/home/ada/bin/sightline.js',
      {},
      { data: '/var/lib/sightline', config: "it's.yaml" },
      "node bin/sightline.js --data /var/lib/sightline --config '/home/ada/it'\\''s.yaml'",
    ],
  ])('fits %s', (_how, script, env, settings, command) => {
    expect(invocation(settings, { script, env, cwd: '/home/ada' })).toBe(command);
  });
});

describe('a command in a hint', () => {
  it.each<[string, string, NodeJS.ProcessEnv, string, string]>([
    ['a checkout', '/src/bin/sightline.js', npm, 'Try: sightline key list', 'Try: npm run -s sightline -- key list'],
    ['a package', '/p/node_modules/.bin/sightline', {}, '`sightline doctor` tells.', '`npx sightline doctor` tells.'],
    ['one that npx has', '/p/node_modules/.bin/sightline', {}, 'Try: npx sightline serve', 'Try: npx sightline serve'],
    ['the path', '/usr/local/bin/sightline', {}, 'Try: sightline key list', 'Try: sightline key list'],
    [
      'a package, in prose',
      '/p/node_modules/.bin/sightline',
      {},
      'hook @webhook-sightline in',
      'hook @webhook-sightline in',
    ],
  ])('can be pasted in %s', (_how, script, env, words, pasted) => {
    expect(pasteable(words, { script, env })).toBe(pasted);
  });
});
