import type { SupervisionEvent } from '../../mind/supervise/supervision.ts'
import type { Io } from '../../core/io.ts'
import type { Notify } from '../../app/notify.ts'
import type { Ready } from '../../app/supervision/preflight.ts'
import type { TerminalLog } from '../../store/terminal-log.ts'
import type { Notice } from '../../core/talk/notice.ts'
import { openNotify } from '../../app/notify.ts'
import { say } from '../../core/io.ts'
import { localTimeFrom } from '../../base/local-time.ts'
import { taskIdOf } from '../../hub/task-rules.ts'
import { shortId } from '../../app/hub/hub-client.ts'
import { oneLine } from '../../base/table.ts'
import { stripAnsi } from '../../base/ansi.ts'

/** Tells what happens to an agent: its log, the person's window, the lines below, and whoever looks elsewhere. */
export class Voice {
  /** While the CLI has the screen, nobody else writes on it. */
  showing = false
  #io: Io
  #ready: Ready
  #scribe: TerminalLog
  #window: Window
  #notify: Notify

  constructor(io: Io, ready: Ready, { scribe, mask }: { scribe: TerminalLog; mask(text: string): string }) {
    this.#io = io
    this.#ready = ready
    this.#scribe = scribe
    this.#window = new Window(io.out)
    const warn = (words: string) => this.warn(words)
    this.#notify = openNotify(ready.settings, { io, cwd: ready.place.root, mask, warn })
  }

  tell(told: SupervisionEvent): void {
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

const came = { began: 'started', resumed: 'started again on its own session', there: 'was at work, and is taken up' }
const task = (ticket: string) => `task ${shortId(taskIdOf(ticket))}`
const longest = 160

/** What happens to an agent, as a person is told it. */
export function toldWords(told: SupervisionEvent, now: number): string {
  switch (told.type) {
    case 'started':
      return came[told.how]
    case 'working':
      return told.ticket === undefined ? 'at its workflow' : `at ${task(told.ticket)}`
    case 'waiting':
      return 'waits for a task'
    case 'asking':
      return `asks: ${oneLine(told.question.text, longest)}`
    case 'blocked':
      return `${task(told.ticket)} needs an answer: ${oneLine(told.question, longest)}`
    case 'nudged':
      return `told to go on: ${oneLine(told.why, longest)}`
    case 'parked':
      return `out of quota until ${localTimeFrom(now, told.until)}: ${oneLine(told.why, longest)}`
    case 'restarting':
      return `${oneLine(told.why, longest)}; started again in ${Math.ceil(told.in / 1000)} s`
    case 'done':
      return `${task(told.ticket)} ${told.ok ? 'is done' : 'failed'}: ${oneLine(told.message, longest)}`
    case 'dropped':
      return `${task(told.ticket)} is dropped: ${oneLine(told.why, longest)}`
    case 'quit':
      return 'was quit'
    case 'gave-up':
      return `given up: ${oneLine(told.why, longest)}`
    case 'evicted':
      return `sent away by the hub: ${oneLine(told.why, longest)}`
    case 'left':
      return 'let go of'
  }
}

/** What of it a person elsewhere should know. */
export function noticeOf(told: SupervisionEvent, now: number): Pick<Notice, 'event' | 'text' | 'task'> | undefined {
  const ticket = 'ticket' in told && told.ticket !== undefined ? { task: taskIdOf(told.ticket) } : {}
  switch (told.type) {
    case 'asking':
    case 'blocked':
    case 'done':
    case 'parked':
    case 'gave-up':
      return { event: told.type, text: toldWords(told, now), ...ticket }
    default:
      return undefined
  }
}

const push = '\u001b[22;0t'
const pop = '\u001b[23;0t'

/**
 * The status line is the title of the person's window: a row of the screen would have to be taken from the CLI, which
 * draws on all of them and would tear it.
 */
export class Window {
  #out: Io['out'] | undefined

  constructor(out: Io['out']) {
    this.#out = out.isTTY ? out : undefined
    this.#out?.write(push)
  }

  show(words: string): void {
    const line = stripAnsi(words).replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
    this.#out?.write(`\u001b]2;${line}\u0007`)
  }

  giveBack(): void {
    this.#out?.write(pop)
  }
}
