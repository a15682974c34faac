import type { TestContext } from 'node:test'
import type { MachineTerminals, TerminalRow } from '../../src/core/screen/machine-terminals.ts'
import type { Tty } from '../terminals/scripted-terminals.ts'
import { scriptedTerminals } from '../terminals/scripted-terminals.ts'

/** Scripted terminals as a machine has them: each repeats what is typed, and ends at `quit`. The rows are listed by the test. */
export function scriptedMachineTerminals(t: TestContext) {
  const ttys = new Map<string, Tty>()
  const typed: string[] = []
  const host = scriptedTerminals((name) => async (tty) => {
    ttys.set(name, tty)
    tty.print(`hello from ${name}\r\n`)
    for (let read = await tty.read(); read !== undefined; read = await tty.read()) {
      if (read === 'quit') return 7
      typed.push(read)
      tty.print(`got ${JSON.stringify(read)}\r\n`)
    }
    return 0
  })
  t.after(() => host.close())
  const rows: TerminalRow[] = []
  const terminals: MachineTerminals = {
    list: async () => rows,
    open: async (id) => (rows.some((row) => row.id === id) ? host.find(id) : undefined),
    async type(id, { as, text }) {
      const terminal = await host.find(id)
      await (as === 'keys' ? terminal?.write(text, true) : terminal?.paste(text, true))
    },
    resize: async (id, { cols, rows: lines }) => (await host.find(id))?.resize(cols, lines),
    close: async () => {},
  }
  return { host, ttys, typed, rows, terminals }
}
