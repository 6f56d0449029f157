import type { OrganizationId } from '../../contract/core/index.ts';

/** One labelled question: what the agent is asked, and what it should answer. */
export interface EvalCase {
  readonly name: string;
  /** Of fault; `none` where nothing is wrong. */
  readonly type: string;
  /** The service with the cause; undefined where nothing is wrong. */
  readonly service: string | undefined;
  readonly organizationId: OrganizationId;
  readonly question: string;
  /** "Now" for the agent. */
  readonly askedAt: Date;
  readonly onset: Date;
}

export interface EvalResult extends Pick<EvalCase, 'name' | 'type' | 'service'> {
  /** Services named, most likely first; where nothing stands out, the one to look at first. */
  readonly named: readonly string[];
  readonly blames: boolean;
  /** What a reader of the answer sees: the service that it blames, and after it the others that it says to look at. */
  readonly shown: readonly string[];
  readonly saysNothingWrong: boolean;
  /** Claims that stand against the evidence that they cite. */
  readonly contradictions: readonly string[];
  readonly seconds: number;
  readonly queries: number;
  /** How far the onset found is from the true one; undefined where none was named. */
  readonly onsetErrorSeconds: number | undefined;
  readonly failure?: string;
}
