import type { Terminal } from '../screen/terminal.ts'

/** The ways in which a person can act on an agent that works inside a turn. */
export type InnerWork = {
  /** The working agent. */
  agent: string
  /** Says what would be lost if the agent were stopped now; undefined if nothing would. */
  loses(): string | undefined | Promise<string | undefined>
  /** Stops the agent; its turn then ends as one that the person stopped. */
  stop(): void | Promise<void>
  /** Finds the agent's terminal, if it has one. */
  terminal?(): Promise<Terminal | undefined>
}

/**
 * The agents that work inside a turn right now: workers, advisors, subagents, racers. Each is known by the role of its inner
 * events, so that a screen that shows those events can also stop the agent.
 */
export class InnerWorks {
  #works = new Map<string, InnerWork>()

  /** Adds an agent until `leave` is called. If another agent has the same role at that time, the role gets a number. */
  enter(role: string, work: InnerWork): { role: string; leave(): void } {
    let name = role
    for (let count = 2; this.#works.has(name); count++) name = `${role} ${count}`
    this.#works.set(name, work)
    return {
      role: name,
      leave: () => {
        if (this.#works.get(name) === work) this.#works.delete(name)
      },
    }
  }

  get(role: string): InnerWork | undefined {
    return this.#works.get(role)
  }

  get roles(): string[] {
    return [...this.#works.keys()]
  }
}
