/** As published in September 2026. Another port takes the place of 33418 where that is taken. */
export const vsCode = {
  client_id: 'https://vscode.dev/oauth/client-metadata.json',
  client_name: 'Visual Studio Code',
  client_uri: 'https://vscode.dev/product',
  application_type: 'native',
  redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
  grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
} as const;
