import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { removeDirectory, root, temporaryDirectory } from '../support/gateway.ts';
import { runNode } from '../support/run.ts';

/** Starts `bin/sightline.js` of `home` as a Node of another version would. */
async function startedOn(version: string, home: string) {
  const preload = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  return runNode(['--import', `data:text/javascript,${encodeURIComponent(preload)}`, join(home, 'bin/sightline.js')]);
}

describe('the check of the Node version', () => {
  let compiled = '';

  beforeAll(async () => {
    compiled = await temporaryDirectory();
    await cp(join(root, 'bin'), join(compiled, 'bin'), { recursive: true });
    await mkdir(join(compiled, 'dist/src'), { recursive: true });
    await writeFile(join(compiled, 'package.json'), '{ "type": "module" }\n');
    await writeFile(join(compiled, 'dist/src/main.js'), "process.stdout.write('started\\n');\n");
  });

  afterAll(() => removeDirectory(compiled));

  it.each(['18.20.8', '22.18.0', '22.23.1'])('refuses the compiled package on %s', async (version) => {
    expect(await startedOn(version, compiled)).toMatchObject({
      code: 3,
      stdout: '',
      stderr: `error: sightline needs Node.js 22.23.2 or later and this is ${version}; npm install node@24 in the same folder brings one for npx.\n`,
    });
  });

  it.each(['22.23.2', '22.24.0', '24.0.0', '26.10.0'])('starts the compiled package on %s', async (version) => {
    expect(await startedOn(version, compiled)).toMatchObject({ code: 0, stdout: 'started\n' });
  });

  it.each(['22.18.0', '22.23.3', '23.11.0'])(
    'refuses a checkout on %s, before Node meets its syntax',
    async (version) => {
      expect(await startedOn(version, root)).toMatchObject({
        code: 3,
        stdout: '',
        stderr: `error: sightline needs Node.js 24.0.0 or later and this is ${version}; npm start and npm run sightline bring their own.\n`,
      });
    },
  );

  it('names in package.json what the compiled package starts on', async () => {
    const { engines } = z
      .object({ engines: z.object({ node: z.string() }) })
      .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
    expect(engines.node).toBe('>=22.23.2');
  });
});
