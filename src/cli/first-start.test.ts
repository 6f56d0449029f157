import { describe, expect, it } from '@jest/globals';
import { invocation } from './first-start.ts';

const npm = { npm_package_name: 'sightline', npm_command: 'start' };

describe('the command that a first start prints', () => {
  it.each([
    ['a checkout', ['/src/bin/sightline.js', 'serve'], npm, 'npm run -s sightline --'],
    [
      'a checkout with a data directory and a port',
      ['/src/bin/sightline.js', 'serve', '--data', 'elsewhere', '--port=9000'],
      npm,
      'npm run -s sightline -- --data /home/ada/elsewhere --port 9000',
    ],
    ['npx', ['/p/node_modules/.bin/sightline', 'serve'], { npm_command: 'exec' }, 'npx sightline'],
    ['a package', ['/home/ada/node_modules/.bin/sightline', 'serve'], {}, 'npx sightline'],
    ['a command on the path', ['/usr/local/bin/sightline', 'serve'], {}, 'sightline'],
    [
      'a container, set by its environment',
      ['/home/ada/bin/sightline.js', 'serve'],
      { SIGHTLINE_DATA: '/var/lib/sightline', SIGHTLINE_CONFIG: "it's.yaml" },
      "node bin/sightline.js --data /var/lib/sightline --config '/home/ada/it'\\''s.yaml'",
    ],
  ])('fits %s', (_how, argv, env, command) => {
    expect(invocation({ argv: ['/usr/bin/node', ...argv], env, cwd: '/home/ada' })).toBe(command);
  });
});
