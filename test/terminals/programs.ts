import { basename } from 'node:path'
import type { Program } from './scripted-terminals.ts'
import { scriptedTerminals } from './scripted-terminals.ts'

const programs: Record<string, Program> = {
  async echo(tty) {
    tty.print('ready\n')
    for (let line = ''; ;) {
      const typed = await tty.read()
      if (typed === undefined) return 0
      if (typed !== '\r') line += typed.replaceAll(/\u001b\[20[01]~/g, '')
      else {
        tty.print(`got: ${line.replaceAll('\u001b', '^[')}\r\n`)
        line = ''
      }
    }
  },
  async exits3(tty) {
    tty.print('bye\n')
    return 3
  },
  async place(tty) {
    tty.print(`${tty.env.MARK}\n${basename(tty.cwd)}\n`)
    return 0
  },
  async lines(tty) {
    for (let i = 1; i <= 100; i++) tty.print(`line ${i}\n`)
    tty.print('ready')
    await tty.read()
    return 0
  },
  async breaks() {
    throw new Error('no such program')
  },
}

/** The commands of the contract, as functions. */
export const scripted = {
  host: () => scriptedTerminals((command) => programs[command]!),
  commands: { echo: 'echo', exits3: 'exits3', place: 'place', lines: 'lines' },
}
