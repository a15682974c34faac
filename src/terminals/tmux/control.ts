import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { spawn } from 'node:child_process'
import { quoted } from '../shell.ts'

/** Asks are answered in the order they came, a block of lines for each command; one that fails ends its ask. */
type Ask = { blocks: number; lines: string[]; done(answer: { text: string } | { error: string } | undefined): void }

/**
 * A client that stays, by which a server is asked many times a second: a process for each would cost ten times as much.
 * It shows nothing and has no size, and it is only for a server of our own, where no person counts their clients.
 */
export class ControlClient {
  #child: ChildProcess
  #asks: Ask[] = []
  #block: { guard: string; lines: string[] } | undefined
  #open = true

  constructor(program: string, place: readonly string[], env: Record<string, string>, session: string) {
    const attach = ['attach-session', '-f', 'no-output,ignore-size', '-t', `=${session}`]
    this.#child = spawn(program, ['-u', ...place, '-C', ...attach], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env,
      cwd: '/',
    })
    let rest = ''
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const line of lines) this.#take(line)
    })
    this.#child.stdin!.on('error', () => {})
    this.#child.on('error', () => this.close()).on('close', () => this.close())
    this.#hold(false)
  }

  get open(): boolean {
    return this.#open
  }

  /** What the commands print, or what went wrong; undefined when there is nobody to ask any more. */
  ask(commands: readonly (readonly string[])[]): Promise<{ text: string } | { error: string } | undefined> {
    if (!this.#open) return Promise.resolve(undefined)
    return new Promise((done) => {
      this.#asks.push({ blocks: commands.length, lines: [], done })
      this.#hold(true)
      this.#child.stdin!.write(`${commands.map((words) => words.map(quoted).join(' ')).join(' ; ')}\n`)
    })
  }

  close(): void {
    this.#open = false
    this.#child.stdin!.destroy()
    for (const { done } of this.#asks.splice(0)) done(undefined)
  }

  #take(line: string): void {
    const [, sign, guard] = /^%(begin|end|error) (\d+ \d+ \d+)$/.exec(line) ?? []
    if (!this.#block) {
      // Those that end in 0 answer nobody's ask: how it was started, and what hooks do.
      if (sign === 'begin' && guard!.endsWith(' 1')) this.#block = { guard: guard!, lines: [] }
    } else if (sign && sign !== 'begin' && guard === this.#block.guard) this.#finish(sign === 'end')
    else this.#block.lines.push(line)
  }

  #finish(ok: boolean): void {
    const { lines } = this.#block!
    this.#block = undefined
    const ask = this.#asks[0]
    if (!ask) return
    ask.lines.push(...lines)
    if (ok && --ask.blocks > 0) return
    this.#asks.shift()
    ask.done(ok ? { text: ask.lines.map((line) => `${line}\n`).join('') } : { error: lines.join('\n') })
    this.#hold(this.#asks.length > 0)
  }

  /** Only while somebody waits for an answer does it keep this process alive. */
  #hold(held: boolean): void {
    const handles = [this.#child, this.#child.stdin as unknown as Socket, this.#child.stdout as unknown as Socket]
    for (const handle of handles) handle[held ? 'ref' : 'unref']()
  }
}
