const registers = { response_types: ['code'], token_endpoint_auth_method: 'none' } as const;
const refreshes = { ...registers, grant_types: ['authorization_code', 'refresh_token'] } as const;
/** Any port of these, as RFC 8252 §7.3 has it. */
const callbacks = ['http://127.0.0.1/callback', 'http://localhost/callback'];

/** What is read of the documents that clients published between September and November 2026. */
const documents = [
  {
    client_id: 'https://claude.ai/oauth/claude-code-client-metadata',
    client_name: 'Claude Code',
    redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
    ...refreshes,
  },
  {
    client_id: 'https://vscode.dev/oauth/client-metadata.json',
    client_name: 'Visual Studio Code',
    // Another port takes the place of 33418 where that is taken.
    redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
    ...refreshes,
  },
  // For servers that name their issuer in the answer (RFC 9207), as ours does; for others it has one a server.
  {
    client_id: 'https://chatgpt.com/oauth/codex/client.json',
    client_name: 'Codex',
    redirect_uris: callbacks,
    ...refreshes,
  },
  {
    client_id: 'https://opencode.ai/oauth/opencode/client.json',
    client_name: 'opencode',
    redirect_uris: [...callbacks, 'http://127.0.0.1/mcp/oauth/callback'],
    ...refreshes,
  },
  {
    client_id: 'https://zed.dev/oauth/client-metadata.json',
    client_name: 'Zed',
    redirect_uris: ['http://127.0.0.1/callback'],
    ...refreshes,
  },
  {
    client_id: 'https://goose-docs.ai/oauth/client-metadata.json',
    client_name: 'Goose',
    redirect_uris: ['http://localhost/oauth_callback'],
    ...registers,
    grant_types: ['authorization_code'],
  },
];

/** By URL, for when a document cannot be had: hosts refuse some clouds, and some gateways reach nothing outside. */
export const wellKnownDocuments: ReadonlyMap<string, unknown> = new Map<string, unknown>(
  documents.map((document) => [document.client_id, document]),
);
