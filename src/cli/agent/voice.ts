import type { Told } from '../../mind/supervise/telling.ts'
import type { Io } from '../../core/io.ts'
import type { Notify } from '../../app/notify.ts'
import type { Ready } from '../../app/supervision/preflight.ts'
import type { Scribe } from '../../store/terminal-log.ts'
import { openNotify } from '../../app/notify.ts'
import { say } from '../../core/io.ts'
import { noticeOf, toldWords } from './telling.ts'
import { Window } from './window.ts'

/** Tells what happens to an agent: its log, the person's window, the lines below, and whoever looks elsewhere. */
export class Voice {
  /** While the CLI has the screen, nobody else writes on it. */
  showing = false
  #io: Io
  #ready: Ready
  #scribe: Scribe
  #window: Window
  #notify: Notify

  constructor(io: Io, ready: Ready, { scribe, mask }: { scribe: Scribe; mask(text: string): string }) {
    this.#io = io
    this.#ready = ready
    this.#scribe = scribe
    this.#window = new Window(io.out)
    const warn = (words: string) => this.warn(words)
    this.#notify = openNotify(ready.settings, { io, cwd: ready.place.root, mask, warn })
  }

  tell(told: Told): void {
    const { agent, place } = this.#ready
    const now = this.#io.clock.now()
    const words = toldWords(told, now)
    this.#window.show(`${agent.name} · ${words}`)
    this.#line(words, agent.name)
    const notice = noticeOf(told, now)
    if (notice) void this.#notify({ ...notice, agent: agent.name, workspace: place.root })
  }

  warn(words: string): void {
    this.#line(words, 'termaite')
  }

  close(): void {
    this.#window.giveBack()
  }

  #line(words: string, by: string): void {
    this.#scribe.tell(words)
    if (!this.showing) say(this.#io, `${by}: ${words}`)
  }
}
