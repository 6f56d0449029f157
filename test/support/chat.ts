import { newId, type OrganizationId } from '../../src/contract/core/index.ts';
import type { Agent, AgentEvent, EarlierInvestigation } from '../../src/contract/agent/index.ts';
import type { ChatMessage, InvestigationStep } from '../../src/contract/storage/index.ts';

export interface Said {
  readonly answer: string;
  /** What was put to the telemetry for that. */
  readonly steps: readonly InvestigationStep[];
  /** Of a conclusion. */
  readonly service?: string;
  readonly unanswered: boolean;
}

/** A chat with an agent, as the core keeps it. */
export class Conversation {
  readonly #agent: Agent;
  readonly #organizationId: OrganizationId;
  readonly #begun: Date;
  readonly #messages: ChatMessage[];
  #earlier: readonly EarlierInvestigation[] = [];
  #answered: readonly InvestigationStep[] = [];
  #taken = 0;

  constructor(agent: Agent, organizationId: OrganizationId, begun: Date, messages: readonly ChatMessage[] = []) {
    this.#agent = agent;
    this.#organizationId = organizationId;
    this.#begun = begun;
    this.#messages = [...messages];
  }

  /** The same up to here. */
  fork(): Conversation {
    const fork = new Conversation(this.#agent, this.#organizationId, this.#begun, this.#messages);
    fork.#earlier = this.#earlier;
    fork.#answered = this.#answered;
    fork.#taken = this.#taken;
    return fork;
  }

  async say(content: string): Promise<Said> {
    const askedAt = new Date(this.#begun.getTime() + this.#messages.length * 1_000);
    const author = { kind: 'key', id: 'ak_test', name: 'test' } as const;
    this.#messages.push({ id: newId('msg'), seq: 1, role: 'user', author, time: askedAt, content, parts: [] });
    const steps: InvestigationStep[] = [];
    let end: AgentEvent | undefined;
    const [last, ...rest] = this.#earlier;
    const assignment = {
      organizationId: this.#organizationId,
      messages: [...this.#messages],
      steps: [],
      askedAt,
      evidenceAfter: this.#taken,
      earlier: last === undefined ? [] : [{ ...last, steps: [...this.#answered, ...last.steps] }, ...rest],
    };
    for await (const event of this.#agent.investigate(assignment, AbortSignal.timeout(60_000))) {
      if (event.type === 'step') {
        const kept = { seq: steps.length + 1, evidence_id: `E${steps.length + 1}`, recorded_at: askedAt.toISOString() };
        steps.push(Object.assign(kept, event.step));
      } else if (event.type !== 'progress') end = event;
    }
    this.#taken += steps.length;
    if (end?.type === 'answer') {
      this.#answered = [...this.#answered, ...steps];
      return { answer: end.answer, steps, unanswered: end.unanswered === true };
    }
    if (end?.type !== 'conclusion') throw new Error('no answer');
    this.#earlier = [{ askedAt, conclusion: end.conclusion, steps }, ...this.#earlier].slice(0, 5);
    this.#answered = [];
    return { answer: end.answer, steps, service: end.conclusion.service, unanswered: false };
  }
}
