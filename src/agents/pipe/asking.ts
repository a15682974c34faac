import type { Writable } from 'node:stream'
import type { Step } from '../../core/work/profile.ts'
import type { Ask } from '../../core/talk/question.ts'
import { visibleQuestion } from '../visible.ts'
import { shownWhole } from './shown.ts'

type Asked = Extract<Step, { type: 'ask' }>

type Parts = {
  ask: Ask
  cwd: string
  stdin: Writable
  /** Aborts when nobody waits for an answer any more. */
  withdrawn: AbortSignal
  /** An answer that could not be put into words. */
  failed(error: Error): Promise<void>
}

/** The questions of one turn: as many at once as the CLI likes, each answered on its stdin. */
export class Asking {
  #parts: Parts
  #open = new Set<{ id: string | undefined; back: AbortController }>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Not waited for: what else the CLI says meanwhile is heard, and so is its end. */
  ask(step: Asked): void {
    const one = { id: step.id, back: new AbortController() }
    this.#open.add(one)
    void this.#answer(step, one.back.signal)
      .catch((error: Error) => this.#parts.failed(error))
      .finally(() => this.#open.delete(one))
  }

  takeBack(id: string): void {
    for (const one of this.#open) if (one.id === id) one.back.abort()
  }

  async #answer({ question, reply }: Asked, back: AbortSignal): Promise<void> {
    const { ask, cwd, stdin, withdrawn } = this.#parts
    const signal = AbortSignal.any([withdrawn, back])
    const picks = await ask(visibleQuestion(await shownWhole(question, cwd)), signal)
    if (!signal.aborted) stdin.write(reply(picks))
  }
}
