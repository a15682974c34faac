import type { SupervisionEvent } from '../../supervise/supervision.ts'
import type { Io } from '../../core/io.ts'
import type { Notify } from '../../hub/client/notify.ts'
import type { ReadyAgent } from '../../supervise/agent/preflight.ts'
import type { TerminalLog } from '../../store/terminal-log.ts'
import type { Notice } from '../../core/talk/notice.ts'
import { defined } from '../../base/defined.ts'
import { agentView, pageAddress } from '../../hub/client/page-link.ts'
import { openNotify } from '../../hub/client/notify.ts'
import { runningHub } from '../../border/running-processes.ts'
import { say } from '../../core/io.ts'
import { localTimeFrom } from '../../base/time/local-time.ts'
import { taskIdOf } from '../../hub/engine/rules/task-rules.ts'
import { shortId } from '../../hub/client/hub-client.ts'
import { oneLine } from '../../base/text/table.ts'
import { stripAnsi } from '../../base/text/ansi.ts'

/** Reports the events of a supervised agent: to its log, the window's title, stderr, and as notices. */
export class SupervisionMessages {
  /** True while the CLI has the screen; then nothing is written to stderr. */
  showing = false
  #io: Io
  #ready: ReadyAgent
  #scribe: TerminalLog
  #window: WindowTitle
  #notify: Notify

  constructor(io: Io, ready: ReadyAgent, { scribe, mask }: { scribe: TerminalLog; mask(text: string): string }) {
    this.#io = io
    this.#ready = ready
    this.#scribe = scribe
    this.#window = new WindowTitle(io.out)
    const warn = (words: string) => this.warn(words)
    const page = () => pageAddress(io, ready.settings, ready.place.home)
    this.#notify = openNotify(ready.settings, { io, cwd: ready.place.root, mask, warn, page })
  }

  tell(told: SupervisionEvent): void {
    const { agent, place, session, hub } = this.#ready
    const now = this.#io.clock.now()
    const words = toldWords(told, now)
    this.#window.show(`${agent.name} · ${words}`)
    this.#line(words, agent.name)
    const notice = noticeOf(told, now)
    // Sending a notice never rejects, and the supervision does not wait for it.
    if (!notice) return
    const view = notice.task === undefined ? agentView(session.state.hubId) : undefined
    // The hub of this home itself reports its tasks and questions, so a second notice would be a duplicate.
    const isHubs = told.type !== 'gave-up' && runningHub(place.home)?.url === hub.now().url
    void this.#notify(defined({ ...notice, agent: agent.name, workspace: place.root, view }), isHubs)
  }

  warn(words: string): void {
    this.#line(words, 'termaite')
  }

  close(): void {
    this.#window.restore()
  }

  #line(words: string, by: string): void {
    this.#scribe.tell(words)
    if (!this.showing) say(this.#io, `${by}: ${words}`)
  }
}

const came = { began: 'started', resumed: 'restarted in its session', there: 'was still running; watching it again' }
const task = (ticket: string) => `task ${shortId(taskIdOf(ticket))}`
const longest = 160
/** The longest reason for the end of a supervision, which also says what to do next. */
const longestEnd = 600

/** Describes an event of supervision in a sentence. */
function toldWords(told: SupervisionEvent, now: number): string {
  switch (told.type) {
    case 'started':
      return came[told.how]
    case 'working':
      return told.ticket === undefined ? 'reading its instructions' : `working on ${task(told.ticket)}`
    case 'waiting':
      return 'waiting for a task'
    case 'asking':
      return `asks: ${oneLine(told.question.text, longest)}`
    case 'blocked':
      return `${task(told.ticket)} needs an answer: ${oneLine(told.question, longest)}`
    case 'nudged':
      return `told to continue: ${oneLine(told.why, longest)}`
    case 'parked':
      return `out of quota until ${localTimeFrom(now, told.until)}: ${oneLine(told.why, longest)}`
    case 'restarting':
      return `${oneLine(told.why, longest)}; restarting in ${Math.ceil(told.in / 1000)} s`
    case 'done':
      return `${task(told.ticket)} ${told.ok ? 'is done' : 'failed'}: ${oneLine(told.message, longest)}`
    case 'dropped':
      return `${task(told.ticket)} was dropped: ${oneLine(told.why, longest)}`
    case 'quit':
      return 'quit by the user'
    case 'gave-up':
      return `gave up: ${oneLine(told.why, longestEnd)}`
    case 'evicted':
      return `removed by the hub: ${oneLine(told.why, longest)}`
    case 'left':
      return 'stopped'
  }
}

/** The notice for an event, if people should be notified of it. */
function noticeOf(told: SupervisionEvent, now: number): Pick<Notice, 'event' | 'text' | 'task'> | undefined {
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

/** Shows the status in the window's title, because the CLI draws on every row of the screen. */
class WindowTitle {
  #out: Io['out'] | undefined

  constructor(out: Io['out']) {
    this.#out = out.isTTY ? out : undefined
    this.#out?.write(push)
  }

  show(words: string): void {
    const line = stripAnsi(words).replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
    this.#out?.write(`\u001b]2;${line}\u0007`)
  }

  restore(): void {
    this.#out?.write(pop)
  }
}
