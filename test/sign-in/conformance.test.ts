import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { removeDirectory, startGateway, temporaryDirectory, type RunningGateway } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';
import { createPerson } from '../support/people.ts';
import type { Person } from '../support/person.ts';

const program = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/conformance/dist/index.js');

describe('the conformance suite’s authorization scenarios', () => {
  let gateway: RunningGateway;
  let directory = '';
  let port = 0;
  let person: Person;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const reserved = createServer();
    port = await listen(reserved);
    reserved.close();
    const redirectUris = [`http://127.0.0.1:${port}/callback`];
    const registered = [{ clientId: 'conformance', clientName: 'Conformance suite', redirectUris }];
    const config = join(directory, 'sightline.config.json');
    await writeFile(config, JSON.stringify({ issuer: { clients: { registered } } }));
    gateway = await startGateway(directory, { args: ['--no-demo', '--config', config] });
    person = await createPerson(gateway, { email: 'ada@acme.example', organization: 'acme', role: 'member' });
  });

  afterAll(async () => {
    await gateway.stop();
    await removeDirectory(directory);
  });

  it.each(['2025-11-25', '2026-07-28'])(
    'pass for %s: metadata, and a code grant that a person consents to',
    async (version) => {
      const scope = ['--client-id', 'conformance', '--resource', `${gateway.url}/mcp`, '--port', String(port)];
      const child = spawn(
        process.execPath,
        [program, 'authorization', '--url', gateway.url, ...scope, '--spec-version', version],
        { cwd: directory, env: { ...process.env, NODE_OPTIONS: '', HOME: directory } },
      );
      let output = '';
      let visited = false;
      const read = (chunk: unknown) => {
        output += String(chunk);
        const link = new RegExp(`^${gateway.url}/oauth2/authorize\\S+$`, 'm').exec(output)?.[0];
        if (link === undefined || visited) return;
        visited = true;
        void (async () => {
          const { url } = await person.press(await person.open(link), 'Allow');
          await fetch(url);
        })();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      const timer = setTimeout(() => child.kill(), 50_000);
      await once(child, 'close');
      clearTimeout(timer);
      expect({ code: child.exitCode, output: child.exitCode === 0 ? '' : output }).toEqual({ code: 0, output: '' });
      expect(visited).toBe(true);
      expect(output).toMatch(/authorization-code-grant/);
      expect(output).not.toMatch(/SKIPPED/);
    },
  );
});
