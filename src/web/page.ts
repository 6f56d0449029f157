import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Role } from '../contract/issuer/index.ts';
import type { Actor, Organization, User, Workspace } from '../contract/storage/index.ts';
import type { Html } from './html.ts';
import type { PathTo } from './paths.ts';
import type { PageServices } from './services.ts';
import type { BrowserSession } from './session.ts';

export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Of the path: `key` of `/incidents/:key`, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly search: URLSearchParams;
  /** Every link and form action goes through it. */
  readonly to: PathTo;
  /** The hidden field that each form with method post holds. */
  readonly csrf: Html;
  readonly session: BrowserSession | undefined;
  /** Signs this browser in, under a new session. */
  readonly openSession: (user: User) => Promise<void>;
  readonly closeSession: () => Promise<void>;
}

export interface SignedInVisit extends Visit {
  readonly session: BrowserSession;
  readonly user: User;
  readonly actor: Actor;
}

export interface MemberVisit extends SignedInVisit {
  readonly organization: Organization;
  readonly role: Role;
  readonly workspace: Workspace;
}

interface Visits {
  readonly public: Visit;
  readonly 'signed-in': SignedInVisit;
  /** Of the chosen organization. */
  readonly member: MemberVisit;
  readonly admin: MemberVisit;
}

export type Access = keyof Visits;

export interface Acts<Visitor> {
  /** Reads, and changes nothing. A `SightlineError` becomes a page with its sentence. */
  readonly get?: (visit: Visitor, services: PageServices) => Answer | Promise<Answer>;
  /** Runs once the form is known to come from a page of ours in this browser. */
  readonly post?: (visit: Visitor, form: URLSearchParams, services: PageServices) => Answer | Promise<Answer>;
}

export interface Page<Who extends Access = Access> extends Acts<Visits[Who]> {
  /** As Express writes it, below authUrl. */
  readonly path: string;
  /** Visitors without a session go to the sign-in page; others without access get 403. */
  readonly access: Who;
}

export type AnyPage = { readonly [Who in Access]: Page<Who> }[Access];

/** Declares a page; the export of its file, listed in pages/index.ts. */
export function definePage<Who extends Access>(page: Page<Who>): Page<Who> {
  return page;
}

/** A redirect is on to a page of ours, its path and query without the path of authUrl; a departure to another site. */
export type Answer = View | { readonly redirect: string } | { readonly departure: string } | Download | News;

/** A file for the browser to keep, of lines of JSON. */
export interface Download {
  readonly file: string;
  readonly lines: AsyncIterable<string>;
}

/** Server-sent events for the script of a live page: each says that the page has changed. */
export interface News {
  readonly news: (signal: AbortSignal) => AsyncIterable<unknown>;
}

/** A page to show. After a POST only for what cannot be asked for again: a form with its problems, a secret shown once. */
export interface View {
  readonly title: string;
  readonly body: Html;
  /** Alone in the middle, without navigation: for what is done before or beside one's work. */
  readonly card?: boolean;
  /** 200 when absent. */
  readonly status?: number;
  readonly retryAfterSeconds?: number | undefined;
  /** Where the browser goes on to by itself, without anything of ours in the way. */
  readonly goOn?: string | undefined;
  /** It changes by itself: its script listens for news, and without script it is loaded again every few seconds. */
  readonly live?: boolean;
}
