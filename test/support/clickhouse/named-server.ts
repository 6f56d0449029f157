/** A server that is there already: CLICKHOUSE_URL, whose user may create databases. */
export class NamedServer {
  readonly url: string;
  readonly username: string;
  readonly password: string;

  private constructor(url: URL) {
    this.url = url.origin;
    this.username = decodeURIComponent(url.username) || 'default';
    this.password = decodeURIComponent(url.password);
  }

  /** Undefined where none is named: its suites are extra. */
  static fromEnvironment(): NamedServer | undefined {
    const named = process.env['CLICKHOUSE_URL'];
    return named === undefined || named === '' ? undefined : new NamedServer(new URL(named));
  }

  async run(sql: string): Promise<string> {
    const headers = { 'X-ClickHouse-User': this.username, 'X-ClickHouse-Key': this.password };
    const response = await fetch(this.url, { method: 'POST', body: sql, headers });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  }

  async runAll(statements: readonly string[]): Promise<void> {
    for (const statement of statements) await this.run(statement);
  }
}
