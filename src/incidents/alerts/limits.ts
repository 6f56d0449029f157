/** What senders of alerts are held to, at each gateway. */
export const limits = {
  bodyBytes: 1024 * 1024,
  /** For the whole body to come. */
  bodyMs: 10_000,
  depth: 32,
  notices: 1_000,
  /** Of one source from one network address. */
  requests: { perMinute: 6_000, burst: 6_000 },
  /** The same with a wrong secret: what is beyond is told to wait. The right secret is never kept out by it. */
  wrongSecrets: { perMinute: 30, burst: 30 },
  /** Requests that are not answered yet: of one source from one network address, of one organization, and of all. */
  atOnce: { caller: 100, organization: 150, total: 300 },
} as const;
