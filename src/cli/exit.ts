/** Ends the process with this code; what there is to say has been said. */
export class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.name = 'Exit';
    this.code = code;
  }
}
