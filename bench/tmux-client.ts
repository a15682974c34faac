import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'

type Place = { cwd: string; env: Record<string, string | undefined> }

/** The size of each window. */
const size = { cols: 120, rows: 40 }

/** A tmux server of one's own, seen and typed to over tmux's control mode, so that no process is started for a key or a look. */
export class TmuxClient {
  #socket: string
  #process: ChildProcessWithoutNullStreams
  #held = ''
  /** The lines of the answer that is being read, and the answers that are waited for, oldest first. */
  #lines: string[] | undefined
  #answers: ((lines: string[]) => void)[] = []
  #drawn: (() => void)[] = []

  constructor(socket: string, { cwd, env }: Place) {
    this.#socket = socket
    const { cols, rows } = size
    const args = ['-L', socket, '-f', '/dev/null', '-C', 'new-session', '-x', `${cols}`, '-y', `${rows}`, 'cat']
    this.#process = spawn('tmux', args, { cwd, env })
    // The session that the client begins with is answered too.
    this.#answers.push(() => {})
    // The last words of a program that ends stay on its screen.
    void this.command('set-option -g remain-on-exit on')
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => this.#read(text))
  }

  /** Opens a program in a window of its own; returns the window's pane. */
  async open(command: string, { cwd, env }: Place): Promise<string> {
    const set = Object.entries({ ...env, TERM: 'tmux-256color', COLORTERM: 'truecolor' }).flatMap(([name, value]) =>
      value === undefined ? [] : [quoted(`${name}=${value}`)],
    )
    const words = ['new-window', '-d', '-P', '-F', "'#{pane_id}'", '-c', quoted(cwd), 'env', '-i', ...set, 'sh', '-c']
    const [pane] = await this.command([...words, quoted(`exec ${command}`)].join(' '))
    return pane!
  }

  /** Gives tmux a command; resolves with the lines of its answer. */
  command(line: string): Promise<string[]> {
    return new Promise((resolve) => {
      this.#answers.push(resolve)
      this.#process.stdin.write(`${line}\n`)
    })
  }

  async screen(pane: string): Promise<string[]> {
    return this.command(`capture-pane -p -t ${pane}`)
  }

  type(pane: string, text: string): Promise<string[]> {
    return this.command(`send-keys -t ${pane} -l ${quoted(text)}`)
  }

  press(pane: string, key: string): Promise<string[]> {
    return this.command(`send-keys -t ${pane} ${key}`)
  }

  /** Resolves with the screen once it is as wanted: it is looked at whenever something is drawn. */
  async shows(pane: string, what: string, isSeen: (rows: string[]) => boolean, longestMs = 40_000): Promise<string[]> {
    for (const end = performance.now() + longestMs; ;) {
      const drawn = new Promise<void>((resolve) => this.#drawn.push(resolve))
      const rows = await this.screen(pane)
      if (isSeen(rows)) return rows
      if (performance.now() > end) throw new Error(`${what} was not shown:\n${rows.join('\n')}`)
      await Promise.race([drawn, new Promise((resolve) => setTimeout(resolve, 250))])
    }
  }

  end(): void {
    spawnSync('tmux', ['-L', this.#socket, 'kill-server'])
  }

  #read(text: string): void {
    const lines = (this.#held + text).split('\n')
    this.#held = lines.pop()!
    for (const line of lines) {
      if (line.startsWith('%output ')) for (const drawn of this.#drawn.splice(0)) drawn()
      else if (line.startsWith('%begin ')) this.#lines = []
      else if (line.startsWith('%end ') || line.startsWith('%error ')) {
        this.#answers.shift()?.(this.#lines ?? [])
        this.#lines = undefined
      } else this.#lines?.push(line)
    }
  }
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
