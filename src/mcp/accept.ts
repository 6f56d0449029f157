import { RequestFailure } from './failure.ts';

export interface Accepted {
  readonly json: boolean;
  /** Named itself, not by a wildcard: only then may a response turn into an event stream. */
  readonly eventStream: boolean;
}

const both: Accepted = { json: true, eventStream: true };
const jsonOnly: Accepted = { json: true, eventStream: false };
/**
 * What a client takes. The protocol asks for both types in Accept; scripts send neither or a wildcard and get JSON. A client that
 * admits `text/event-stream` alone gets its one answer as an event.
 */
export function readAccept(header: string | undefined): Accepted {
  if (header === undefined) return jsonOnly;
  if (header === 'application/json, text/event-stream') return both;
  let json = false;
  let eventStream = false;
  for (const type of admitted(header)) {
    if (type === 'application/json' || type === 'application/*' || type === '*/*' || type === '') json = true;
    if (type === 'text/event-stream') eventStream = true;
  }
  if (!json && !eventStream) {
    throw new RequestFailure(406, 406, 'Accept must admit application/json or text/event-stream.');
  }
  return { json, eventStream };
}

/** RFC 9110 §12.5.3. Named itself: who takes anything may not have thought of this. */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  if (typeof header !== 'string') return false;
  // As nearly all write it, whatever else they take.
  if (header.startsWith('gzip, ')) return true;
  return admitted(header).includes('gzip');
}

/** What such a header names, in lower case, but for what has a quality of nothing. */
function admitted(header: string): readonly string[] {
  return header
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';').map((piece) => piece.trim()))
    .filter(([, ...parameters]) => !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)))
    .map(([named = '']) => named);
}
