/* What operators ask, and where the answer stands: written before the guides, which were then written to answer it. */

export interface Question {
  readonly asks: string;
  readonly page: string;
  readonly heading: string;
  /** The command, key or fact that answers; it ends within so many words after the heading. */
  readonly answer: string;
  readonly within: number;
}

export const questions: readonly Question[] = [
  {
    asks: 'How do I try it on my own machine?',
    page: 'README.md',
    heading: 'Start',
    answer: 'npm start',
    within: 40,
  },
  {
    asks: 'How do I connect Claude Code?',
    page: 'README.md',
    heading: 'Connect a client',
    answer: 'claude mcp add --transport http sightline',
    within: 60,
  },
  {
    asks: 'How much memory does the machine need?',
    page: 'docs/sizing.md',
    heading: 'Size the machine',
    answer: '`openEngines` × (`memoryLimitMb` + 150 MB)',
    within: 80,
  },
  {
    asks: 'How do I run it in a container?',
    page: 'docs/deploying.md',
    heading: 'Docker',
    answer: 'docker run --init --read-only',
    within: 80,
  },
  {
    asks: 'What does my nginx have to do?',
    page: 'docs/proxy.md',
    heading: 'nginx',
    answer: 'proxy_buffering off;',
    within: 60,
  },
  {
    asks: 'How do I back up the workspace while it runs?',
    page: 'docs/operating.md',
    heading: 'Back up and restore',
    answer: 'sightline export',
    within: 60,
  },
  {
    asks: 'How do I upgrade, and what if it goes wrong?',
    page: 'docs/upgrading.md',
    heading: 'Upgrade',
    answer: 'an older version refuses the upgraded database',
    within: 60,
  },
  {
    asks: 'How do I replace the secret of an API key without an outage?',
    page: 'docs/operating.md',
    heading: 'Rotate or revoke an API key',
    answer: 'key rotate',
    within: 20,
  },
  {
    asks: 'Somebody left the company: how do I remove them?',
    page: 'docs/operating.md',
    heading: 'Remove a person',
    answer: 'user delete',
    within: 40,
  },
  {
    asks: 'Which redirect URI do I enter at the identity provider?',
    page: 'docs/identity-providers.md',
    heading: 'Register Sightline at the provider',
    answer: '{auth_url}/sign-in/callback',
    within: 40,
  },
  {
    asks: 'What do I set in an OpenTelemetry SDK to send telemetry?',
    page: 'docs/ingest.md',
    heading: 'Send over HTTP',
    answer: 'ingest show --org',
    within: 20,
  },
  {
    asks: 'My telemetry is in PostgreSQL tables of my own: how do I serve it?',
    page: 'docs/warehouses.md',
    heading: 'Five steps',
    answer: 'telemetry inspect',
    within: 80,
  },
  {
    asks: 'What do I need to survive the loss of a machine?',
    page: 'docs/high-availability.md',
    heading: 'Several gateways',
    answer: 'the same `SIGHTLINE_MASTER_KEY`',
    within: 80,
  },
  {
    asks: 'What happens while the database restarts?',
    page: 'docs/high-availability.md',
    heading: 'What fails, and for how long',
    answer: 'the database restarts',
    within: 120,
  },
  {
    asks: 'It worked, and now clients get 401: why?',
    page: 'docs/troubleshooting.md',
    heading: 'Clients get 401',
    answer: 'token expired',
    within: 30,
  },
  {
    asks: 'Who is refused with 429, and who with 503?',
    page: 'docs/troubleshooting.md',
    heading: 'Clients get 429 or 503',
    answer: '`Retry-After`',
    within: 60,
  },
  {
    asks: 'How do I hide personal data from queries?',
    page: 'docs/governance.md',
    heading: 'Hide columns and attributes',
    answer: 'action: mask',
    within: 60,
  },
  {
    asks: 'What keeps one organization from reading another’s telemetry?',
    page: 'docs/security.md',
    heading: 'Tenant isolation',
    answer: 'never from an argument',
    within: 40,
  },
  {
    asks: 'Does our data go to a model provider?',
    page: 'docs/faq.md',
    heading: 'Does our data leave the machine?',
    answer: '`agent-llm`',
    within: 60,
  },
  {
    asks: 'How do I let Alertmanager open incidents?',
    page: 'docs/alerts.md',
    heading: 'Add a source',
    answer: 'alert-source add --plugin alertmanager',
    within: 30,
  },
];
