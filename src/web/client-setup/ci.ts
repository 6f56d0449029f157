import {
  type Client,
  type Connection,
  exchangeIntoVariable,
  inVariables,
  listTools,
  secretIntoVariable,
  wordsOf,
  quote,
} from './client.ts';

export const ci: Client = {
  name: 'ci',
  title: 'CI and scripts',
  snippets(connection) {
    const secret = connection.key?.clientSecret;
    return [
      {
        title: 'GitHub Actions: keep the secret in the repository’s secrets',
        language: 'sh',
        text:
          secret === undefined
            ? 'gh secret set SIGHTLINE_CLIENT_SECRET'
            : `printf %s ${quote(secret)} | gh secret set SIGHTLINE_CLIENT_SECRET`,
      },
      {
        title: 'GitHub Actions: save as .github/workflows/sightline.yml',
        language: 'yaml',
        text: workflow(connection),
      },
      ...secretIntoVariable(connection, 'Any shell: put the secret where your programs find it'),
      {
        title: 'Any shell: exchange the key for a token, good for one hour, and call',
        language: 'sh',
        text: `${exchangeIntoVariable(wordsOf(connection))}\n${listTools(wordsOf(connection))}`,
      },
    ];
  },
};

/** The connection's values stand in variables, not in the script, which Actions writes without any quoting. */
function workflow({ url, tokenUrl, key }: Connection): string {
  const clientId = key === undefined ? '${{ vars.SIGHTLINE_CLIENT_ID }}' : JSON.stringify(key.clientId);
  return `name: Sightline
on: workflow_dispatch
jobs:
  ask:
    runs-on: ubuntu-latest
    env:
      SIGHTLINE_URL: ${JSON.stringify(url)}
      SIGHTLINE_TOKEN_URL: ${JSON.stringify(tokenUrl)}
      SIGHTLINE_CLIENT_ID: ${clientId}
    steps:
      - name: Exchange the key for a token and list the tools
        env:
          SIGHTLINE_CLIENT_SECRET: \${{ secrets.SIGHTLINE_CLIENT_SECRET }}
        run: |
${block(exchangeIntoVariable(inVariables))}
          echo "::add-mask::$SIGHTLINE_TOKEN"
${block(listTools(inVariables))}`;
}

/** Lines of a YAML block, ten deep. */
function block(text: string): string {
  return text.replaceAll(/^/gm, ' '.repeat(10));
}
