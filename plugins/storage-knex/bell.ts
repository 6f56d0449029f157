/** Tells all processes over one database of something by its name. What is lost on the way is found by looking. */
export interface Bell {
  /** Whether others are heard at this moment. */
  readonly heard: boolean;
  /** Returns at once; never throws. */
  ring(name: string): void;
  /** `hear` is called with what others ring, and with nothing where something may have been missed. Called once. */
  listen(hear: (name?: string) => void): void;
  close(): Promise<void>;
}
