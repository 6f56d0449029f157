import { describe, expect, it } from '@jest/globals';
import { applicationType, redirectUriFault } from '../../src/identity/issue/clients/urls.ts';

describe('a redirect URI', () => {
  it.each([
    'https://client.example/callback',
    'https://client.example:8443/callback?tenant=1',
    'https://client.example',
    'https://10.0.0.5/callback',
    'http://localhost/callback',
    'http://localhost:6274/oauth/callback',
    'http://127.0.0.1',
    'http://127.0.0.1:33418/',
    'http://[::1]:4711/callback',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'vscode://vscode.github-authentication/did-authenticate',
    'vscode-insiders://x/y',
    'com.example.app:/callback',
    'com.example.app://callback',
  ])('may be %s', (uri) => {
    expect(redirectUriFault(uri)).toBeUndefined();
  });

  it.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'java\nscript:alert(1)',
    'javascript://client.example/%0aalert(1)',
    'vbscript:msgbox(1)',
    'data:text/html,<script>alert(1)</script>',
    'data:text/html;base64,PHA+',
    'blob:https://client.example/1',
    'filesystem:https://client.example/1',
    'file:///etc/passwd',
    'about:blank',
    'view-source:https://client.example/',
    'ws://client.example/',
    'ftp://client.example/',
    'mailto:someone@client.example',
    'ms-msdt:/id',
    'search-ms:query=x',
    'smb://client.example/share',
    'http://client.example/callback',
    'http://10.0.0.1/callback',
    'http://127.0.0.2/callback',
    'http://localhost.evil.example/callback',
    'http://localhost@evil.example/callback',
    'http://127.0.0.1@evil.example/',
    'http://0.0.0.0/callback',
    'https://localhost/callback',
    'https://user@client.example/callback',
    'https://user:secret@client.example/callback',
    'https://@client.example/callback',
    'cursor://user@anysphere.cursor-mcp/callback',
    'https://client.example/callback#part',
    'https://client.example/callback#',
    'https://*.example/callback',
    'https://client.example/*',
    'http://localhost:*/callback',
    'https://client.example\\@evil.example/',
    'https://client.example/ callback',
    ' https://client.example/callback',
    'https://client.example/\u0000',
    'https://clïent.example/callback',
    'https://client.example/<script>',
    '/callback',
    'client.example/callback',
    'https://',
    'cursor:',
    '',
    `https://client.example/${'a'.repeat(2_000)}`,
  ])('may not be %j', (uri) => {
    expect(redirectUriFault(uri)).toMatch(/^must /);
  });
});

describe('applicationType', () => {
  it.each([
    [['https://client.example/callback'], 'web'],
    [['https://client.example/callback', 'https://other.example/'], 'web'],
    [['https://client.example/callback', 'http://127.0.0.1/'], 'native'],
    [['http://localhost:8787/callback'], 'native'],
    [['https://client.example/callback', 'cursor://x/y'], 'native'],
  ] as const)('of %j is %s', (uris, type) => {
    expect(applicationType(uris)).toBe(type);
  });
});
