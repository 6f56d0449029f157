/** As published in September 2026. Another port takes the place of 33418 where that is taken. */
const vsCode = {
  client_id: 'https://vscode.dev/oauth/client-metadata.json',
  client_name: 'Visual Studio Code',
  client_uri: 'https://vscode.dev/product',
  application_type: 'native',
  redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
  grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
} as const;

/** As published in September 2026. No `application_type`, and a port is added to either URI at each run. */
const claudeCode = {
  client_id: 'https://claude.ai/oauth/claude-code-client-metadata',
  client_name: 'Claude Code',
  client_uri: 'https://claude.ai',
  redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
} as const;

/** By URL, for when a document cannot be had: hosts refuse some clouds, and some gateways reach nothing outside. */
export const wellKnownDocuments: ReadonlyMap<string, unknown> = new Map<string, unknown>(
  [claudeCode, vsCode].map((document) => [document.client_id, document]),
);
