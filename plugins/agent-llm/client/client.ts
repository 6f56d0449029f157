/** A model behind some API. What differs between APIs stays in the adapter. */
export interface LlmClient {
  /** One turn of the model. Rejects with an `LlmFailure`, or with the signal's reason. */
  generate(request: LlmRequest, signal: AbortSignal): Promise<LlmReply>;
  /** The host is where telemetry is sent. */
  describe(): { readonly model: string; readonly host: string };
}

export interface LlmRequest {
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolSpec[];
  /** The one tool that may be called now. */
  readonly mustCall?: string;
  readonly maxOutputTokens: number;
}

export type Turn =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'model'; readonly reply: LlmReply }
  | { readonly role: 'results'; readonly results: readonly ToolResult[] };

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** Undefined where the model wrote no JSON. */
  readonly input: unknown;
}

export interface ToolResult {
  readonly callId: string;
  readonly text: string;
  readonly failed: boolean;
}

export interface LlmReply {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** `cut`: it reached the output limit, so that the last call may be incomplete. */
  readonly end: 'done' | 'cut' | 'refused';
  /** As the API counts them; undefined where it does not say. */
  readonly tokens: { readonly input: number; readonly output: number } | undefined;
  /** The turn as the API wrote it, which it wants to see again unchanged. */
  readonly native: unknown;
}

/** The model could not answer. The message is ours: safe to show, and without a secret. */
export class LlmFailure extends Error {
  override readonly name = 'LlmFailure';
  /** What the API answered with, where it answered. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}
