import type { Turn } from '../core/work/agent.ts'

/** What went on between one try and the person while it ran. */
export class Meanwhile {
  /** Whether the person was asked for a permission. */
  permission = false
  /** What was typed and given to whoever tried. */
  readonly typed: string[] = []
  readonly ask: Turn['ask']
  readonly steer: Turn['steer']

  constructor({ ask, steer }: Turn) {
    this.ask = (question, ...rest) => {
      this.permission ||= question.about === 'permission'
      return ask(question, ...rest)
    }
    this.steer = async (until) => {
      const typed = await steer(until)
      this.typed.push(...typed)
      return typed
    }
  }
}
