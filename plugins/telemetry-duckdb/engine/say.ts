/** For the gateway's log: what an engine process writes there is bounded and kept from callers. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
