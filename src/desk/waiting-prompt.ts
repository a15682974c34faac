import type { ProjectDoc } from '../home/project.ts'
import type { App } from '../turn/app.ts'
import { isDeepStrictEqual } from 'node:util'
import { away, healthDoc } from '../turn/rotation/health.ts'

type Wait = NonNullable<ProjectDoc['waiting']>

/** A prompt that waits for an agent's quota. It is saved with the project, so it survives this process. */
export class WaitingPrompt {
  #app: () => App
  #due: (wait: Wait) => void
  #now: Wait | undefined
  #stop = new AbortController()

  constructor(app: () => App, due: (wait: Wait) => void) {
    this.#app = app
    this.#due = due
  }

  get now(): Wait | undefined {
    return this.#now
  }

  /** Continues to wait for a prompt that an earlier process left waiting. */
  async takeUp(): Promise<void> {
    const { waiting } = await this.#app().project.doc.read()
    if (waiting && waiting.session === this.#app().session.id) this.#watch(waiting)
  }

  /** Waits until the agent is expected back. */
  async begin(agent: string, prompt: string): Promise<void> {
    const { io, session, store } = this.#app()
    const now = io.clock.now()
    const until = away(await healthDoc(store).read(), agent, now)?.until ?? now
    const wait = { session: session.id, agent, until, prompt }
    await this.#app().project.doc.update((doc) => ({ ...doc, waiting: wait }))
    this.#watch(wait)
  }

  /** Drops the waiting prompt. Returns whether there was one. */
  async giveUp(): Promise<boolean> {
    const wait = this.#now
    this.close()
    return wait !== undefined && (await this.#claim(wait))
  }

  close(): void {
    this.#now = undefined
    this.#stop.abort()
  }

  #watch(wait: Wait): void {
    this.#stop.abort()
    const { signal } = (this.#stop = new AbortController())
    this.#now = wait
    void (async () => {
      const { clock } = this.#app().io
      // Setting the clock back meanwhile does not make the wait longer.
      const due = clock.elapsed() + wait.until - clock.now()
      const left = () => Math.min(wait.until - clock.now(), due - clock.elapsed())
      while (left() > 0 && !signal.aborted) await clock.sleep(left(), signal)
      if (signal.aborted) return
      this.#now = undefined
      if (await this.#claim(wait)) this.#due(wait)
    })().catch(() => {})
  }

  /** Claims the prompt, because several processes may wait for the same one. */
  async #claim(wait: Wait): Promise<boolean> {
    let mine = false
    await this.#app().project.doc.update((doc) => {
      mine = isDeepStrictEqual(doc.waiting, wait)
      if (!mine) return doc
      const { waiting: _, ...rest } = doc
      return rest
    })
    return mine
  }
}
