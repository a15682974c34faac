import type { Command } from '../../core/talk/command.ts'
import type { SlotQuestion, Slot } from '../../crew/slot.ts'
import type { App } from '../../turn/app.ts'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isAlive } from '../../base/process/owner.ts'
import { SlotLedger } from '../../crew/slot-ledger.ts'
import { allOf } from '../../crew/slot.ts'
import { questionWords } from '../../crew/tools/slot-view.ts'
import { fileStore } from '../../store/files/file-store.ts'
import { watchFile } from '../../base/files/file-watch.ts'
import { answerWords, put } from './crew-card.ts'
import { voiceOf } from '../../core/io.ts'

type CrewQuestionsParts = {
  app(): App
  /** Runs a command that the user did not type. */
  put(command: Command): void
  /** Whether questions appear as cards. In the plain-lines chat they are only mentioned, since the next line typed would answer them. */
  cards: boolean
}

/** Brings the questions of the project's crew to the user in the chat. */
export class CrewQuestions {
  #parts: CrewQuestionsParts
  #ledger: SlotLedger
  #file: string
  #told = new Map<string, AbortController>()
  #watched: { path: string; close(): void } | undefined
  #looking: Promise<void> | undefined
  #again = false
  #closed = false

  constructor(parts: CrewQuestionsParts) {
    const { io, place, project } = parts.app()
    this.#parts = parts
    this.#ledger = new SlotLedger(fileStore(place.home, voiceOf(io)), project.slug, io.clock)
    this.#file = join(place.home, 'crew', project.slug, 'slots.json')
    this.#ring()
  }

  close(): void {
    this.#closed = true
    this.#watched?.close()
    for (const withdrawn of this.#told.values()) withdrawn.abort()
  }

  /** Reads the slots, and reads them again if they change during the read. */
  #ring(): void {
    this.#again = true
    if (this.#closed) return
    this.#watch()
    this.#looking ??= this.#looks().finally(() => (this.#looking = undefined))
  }

  /** Watches the crew's folder, or, until that exists, its nearest existing parent. */
  #watch(): void {
    const path = firstMissing(this.#file)
    if (path === this.#watched?.path) return
    this.#watched?.close()
    const watcher = watchFile(path, () => this.#ring())
    this.#watched = { path, close: () => watcher.close() }
    // The folder may have appeared before the watch began.
    this.#watch()
  }

  async #looks(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false
      // An unreadable crew has no questions for now.
      const slots = await this.#ledger.read().catch(() => undefined)
      if (slots && !this.#closed) this.#see(allOf(slots))
    }
  }

  /** Skips questions whose keeper died: the next keeper asks them again. */
  #see(slots: readonly Slot[]): void {
    const open = slots
      .filter(({ owner }) => owner !== undefined && isAlive(owner))
      .flatMap((slot) => (slot.asks ?? []).map((asked) => ({ slot, asked })))
    const asks = new Set(open.map(({ asked }) => asked.ask))
    for (const [ask, withdrawn] of this.#told) {
      if (asks.has(ask)) continue
      withdrawn.abort()
      this.#told.delete(ask)
    }
    for (const { slot, asked } of open) {
      if (this.#told.has(asked.ask)) continue
      const withdrawn = new AbortController()
      this.#told.set(asked.ask, withdrawn)
      this.#parts.put(this.#asking(slot, asked, withdrawn.signal))
    }
  }

  #asking(slot: Slot, asked: SlotQuestion, withdrawn: AbortSignal): Command {
    const who = `${slot.agent} (slot ${slot.id})`
    return {
      name: 'crew',
      help: 'Answer a question of an agent in the crew.',
      run: async (_args, world) => {
        if (!this.#parts.cards)
          return world.say(`${who} asks: ${questionWords(asked.question)} ${answerWords(slot.id)}`)
        const { io, place, settings } = this.#parts.app()
        const { openCrews } = await import('../../crew/machine/crews.ts')
        const crews = openCrews(io, place, settings, { carries: false })
        try {
          const signal = AbortSignal.any([world.signal, withdrawn])
          if (await put(crews.of().crew, slot, asked, { ...world, signal })) return
        } finally {
          await crews.close()
        }
        if (this.#closed) return
        if (withdrawn.aborted) world.say(`${who} was answered elsewhere.`)
        else if (world.signal.aborted) world.say(`${who} still waits for an answer. ${answerWords(slot.id)}`)
      },
    }
  }
}

/** The longest existing part of a path, or the path itself if its folder exists. */
function firstMissing(path: string): string {
  const folder = dirname(path)
  return existsSync(folder) ? path : firstMissing(folder)
}
