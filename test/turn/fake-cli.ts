import type { ScreenFacts } from '../../src/core/profile/profile.ts'
import type { Clock } from '../../src/base/time/clock.ts'
import type { Program, Tty } from '../terminals/scripted-terminals.ts'

/** The faults of a fake CLI; a CLI with a `soft` fault comes back when it is told to stop. */
export type Fault =
  | 'exit 0'
  | 'exit 1'
  | 'exit 137'
  | 'goodbye'
  | 'silence'
  | 'garbage'
  | 'soft garbage'
  | 'hang'
  | 'soft hang'
  | 'quota'
  | 'dialog'
  | 'half a screen'
  | 'gone'
  /** No fault at all: it prints code. */
  | 'code'

/** All fake CLIs of one machine: what they did to the disk, and what they saw that they should not have. */
export type Machine = {
  clock: Clock
  random(): number
  /** How often each task had its effect. */
  did: Map<string, number>
  living: number
  mostLiving: number
  opened: number
  /** Texts that were typed where nothing may be typed. */
  wrongs: string[]
  prompts: string[]
  /** Befalls the one that lives. */
  strike(fault: Fault): void
  workMs(): number
}

export function machineOf(clock: Clock, random: () => number, workMs = () => 20_000): Machine {
  const counts = { living: 0, mostLiving: 0, opened: 0 }
  return { clock, random, workMs, ...counts, did: new Map(), wrongs: [], prompts: [], strike() {} }
}

const busyMark = '* working (esc to interrupt)'
const code = ['```', 'throw new Error("fatal error")', 'Exiting', 'Goodbye', '```', 'fatal error', 'Goodbye']

export const facts: Omit<ScreenFacts, 'command'> = {
  leashes: { ask: 'asks' },
  names: true,
  reader: { busy: /\(esc to interrupt\)/, asking: /^Allow\? /m, idle: /^> /m },
  dialog({ rows }) {
    if (!rows.some((row) => row.startsWith('Allow? '))) return undefined
    const options = [{ id: '1', label: 'Yes' }]
    const question = { about: 'permission' as const, text: 'Allow?', from: [], options }
    return { question, keys: (picks) => (picks ? ['1'] : ['Escape']) }
  },
  composer: ({ rows }) =>
    rows
      .findLast((row) => row.startsWith('> '))
      ?.slice(2)
      .trimEnd() ?? undefined,
  clear: ['Ctrl+U'],
  interrupt: ['Escape'],
  fault: /^! error: (.*)$/m,
  quit: [],
}

type Mode = 'idle' | 'busy' | 'asking' | 'odd' | 'hung'

/** A CLI as they are: a composer, a busy mark, dialogs; it does what a task says once, unless it is not told to look first. */
export const fakeCli =
  (machine: Machine): Program =>
  async (tty) => {
    machine.opened++
    machine.living++
    machine.mostLiving = Math.max(machine.mostLiving, machine.living)
    try {
      return await new FakeCli(machine, tty).run()
    } finally {
      machine.living--
    }
  }

class FakeCli {
  #m: Machine
  #tty: Tty
  #mode: Mode = 'idle'
  #soft = false
  #held = ''
  #log: string[] = []
  #work: { prompt: string; until: number } | undefined
  #armed: Fault | undefined
  /** The place in the log at which the last prompt ends: a CLI that falls silent has said nothing of its own since then. */
  #asked = 0
  #inbox: ({ text: string } | { fault: Fault })[] = []
  #wake = new AbortController()

  constructor(machine: Machine, tty: Tty) {
    this.#m = machine
    this.#tty = tty
  }

  async run(): Promise<number> {
    this.#m.strike = (fault) => this.#happened({ fault })
    void this.#listen()
    this.#draw()
    for (;;) {
      await this.#news()
      if (this.#tty.signal.aborted) return 0
      const next = this.#inbox.shift()
      if (!next) this.#tick()
      else if ('text' in next) this.#typed(next.text)
      else {
        const exit = this.#strike(next.fault)
        if (exit !== undefined) return exit
      }
    }
  }

  async #listen(): Promise<void> {
    for (let text; (text = await this.#tty.read()) !== undefined;) this.#happened({ text })
  }

  #happened(what: { text: string } | { fault: Fault }): void {
    this.#inbox.push(what)
    this.#wake.abort()
  }

  async #news(): Promise<void> {
    this.#wake = new AbortController()
    if (this.#inbox.length > 0) return
    await this.#m.clock.sleep(this.#tickMs, AbortSignal.any([this.#wake.signal, this.#tty.signal]))
  }

  get #tickMs(): number {
    return this.#mode === 'busy' ? Math.min(20_000, this.#work!.until - this.#m.clock.elapsed()) : 3_600_000
  }

  #typed(text: string): void {
    const pasted = text.startsWith('\u001b[200~')
    if (pasted && this.#mode !== 'idle') this.#m.wrongs.push(`pasted while ${this.#mode}`)
    if (this.#mode === 'asking') this.#answered(text)
    else if (text === '\u001b') this.#interrupted()
    else if (this.#mode !== 'idle') return
    else if (text === '\u0015') this.#held = ''
    else if (text === '\r') this.#entered()
    else this.#held += text.replaceAll(/\u001b\[20[01]~/g, '').replaceAll('\r', '\n')
    this.#draw()
  }

  #answered(text: string): void {
    if (text === '1') this.#mode = 'busy'
    else if (text === '\u001b') this.#stopped()
    else this.#m.wrongs.push(`typed into a dialog: ${JSON.stringify(text)}`)
  }

  #interrupted(): void {
    if (this.#mode === 'busy') this.#stopped()
    if ((this.#mode === 'odd' || this.#mode === 'hung') && this.#soft) this.#stopped()
  }

  #stopped(): void {
    this.#log.push('interrupted')
    this.#mode = 'idle'
    this.#work = undefined
  }

  #entered(): void {
    const prompt = this.#held
    if (prompt === '') return
    this.#held = ''
    this.#m.prompts.push(prompt)
    this.#log.push(...prompt.split('\n').map((line) => `» ${line}`))
    this.#asked = this.#log.length
    this.#mode = 'busy'
    this.#work = { prompt, until: this.#m.clock.elapsed() + this.#m.workMs() }
    const armed = this.#armed
    this.#armed = undefined
    if (armed) this.#strike(armed)
  }

  #tick(): void {
    if (this.#mode !== 'busy' || !this.#work) return
    if (this.#m.clock.elapsed() >= this.#work.until) this.#answer(this.#work.prompt)
    this.#draw()
  }

  #answer(prompt: string): void {
    const task = /task-\d+/.exec(prompt)?.[0]
    const { did } = this.#m
    const looks = prompt.includes('Check what is already done')
    if (task && !(looks && did.has(task))) did.set(task, (did.get(task) ?? 0) + 1)
    const [, nonce] = /\[termaite-response-(\w+)\]/.exec(prompt) ?? []
    this.#log.push(`[termaite-response-${nonce}]`, `${task ?? 'ready'} is done`, `[/termaite-response-${nonce}]`)
    this.#mode = 'idle'
    this.#work = undefined
  }

  /** The code it exits with, where it does. */
  #strike(fault: Fault): number | undefined {
    switch (fault) {
      case 'exit 0':
      case 'exit 1':
      case 'exit 137':
        return Number(fault.slice(5))
      case 'code':
        this.#log.push(...code)
        break
      case 'goodbye':
        this.#soft = false
        this.#odd([...this.#log, 'Goodbye'])
        return undefined
      case 'garbage':
      case 'soft garbage':
        this.#soft = fault === 'soft garbage'
        this.#odd(['▒▒�▒ x^Qz', '~~~~ 0x7f'])
        return undefined
      case 'half a screen':
        this.#soft = false
        this.#odd(this.#log.slice(0, 2).map((line) => line.slice(0, 10)))
        return undefined
      default:
        if (this.#mode === 'busy') this.#atWork(fault)
        else if (this.#mode === 'idle') this.#armed = fault
    }
    this.#draw()
    return undefined
  }

  #atWork(fault: Fault): void {
    if (fault === 'dialog') this.#mode = 'asking'
    else if (fault === 'hang' || fault === 'soft hang') [this.#mode, this.#soft] = ['hung', fault === 'soft hang']
    else {
      if (fault === 'quota')
        this.#log.push(
          `! error: quota spent until ${this.#m.clock.elapsed() + 60_000 + Math.round(this.#m.random() * 240_000)}`,
        )
      else this.#log.length = this.#asked
      this.#mode = 'idle'
      this.#work = undefined
    }
  }

  #odd(rows: string[]): void {
    this.#mode = 'odd'
    this.#work = undefined
    this.#tty.clear()
    this.#tty.print(rows.slice(-20).join('\n'))
  }

  #draw(): void {
    if (this.#mode === 'odd') return
    const held = this.#held === '' ? '' : `[pasted ${this.#held.length}]`
    const below = {
      idle: [`> ${held}`],
      busy: [`${busyMark} ${this.#m.clock.elapsed()}`, '> '],
      hung: [busyMark, '> '],
      asking: ['Allow? rm -rf build', '  1. Yes'],
    }[this.#mode]
    this.#tty.clear()
    this.#tty.print([...this.#log.slice(-18), ...below].join('\n'))
  }
}
