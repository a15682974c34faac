import type { Clock } from '../../base/clock.ts'
import type { Limits } from './limits.ts'
import type { Repository } from './repository.ts'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { ourHome } from './homes.ts'
import { stamp, stampedAt } from './recent.ts'
import { Off } from './repository.ts'
import { ignoreRules } from './rules.ts'
import { takeTree } from './take.ts'

const day = 24 * 3_600_000

/** Takes trees within a time; a store that is damaged is begun anew, one that is too slow is left alone for a day. */
export class Camera {
  #repository: Repository
  #limits: Limits
  #clock: Clock
  #slow: string
  #rules: ReturnType<typeof ignoreRules> | undefined

  constructor(repository: Repository, limits: Limits, clock: Clock) {
    this.#repository = repository
    this.#limits = limits
    this.#clock = clock
    this.#slow = join(repository.dir, 'too-slow')
  }

  async take(): Promise<string> {
    const since = stampedAt(this.#slow)
    if (since !== undefined && this.#clock.now() - since < day) throw this.#tooSlow()
    const late = new AbortController()
    const done = new AbortController()
    void this.#clock.sleep(this.#limits.ms, done.signal).then(() => done.signal.aborted || late.abort())
    try {
      return await this.#takeOrBeginAnew(late.signal)
    } catch (error) {
      if (!late.signal.aborted) throw error
      stamp(this.#slow, this.#clock.now())
      throw this.#tooSlow()
    } finally {
      done.abort()
    }
  }

  async #takeOrBeginAnew(signal: AbortSignal): Promise<string> {
    const take = () => takeTree(this.#repository, (this.#rules ??= this.#newRules()), this.#limits, signal)
    try {
      return await take()
    } catch (error) {
      if (error instanceof Off || signal.aborted) throw error
      // An index torn by a power cut, or one whose objects are gone: without it git looks at every file again.
      rmSync(join(this.#repository.dir, 'index'), { force: true })
      this.#rules = undefined
      return take()
    }
  }

  #newRules() {
    return ignoreRules(this.#repository, ourHome(this.#repository.dir))
  }

  #tooSlow(): Off {
    return new Off(
      `reading the project takes longer than ${Math.round(this.#limits.ms / 1000)} s; add what is generated to .gitignore`,
    )
  }
}
