import type { Io } from '../../core/io.ts'
import type { TerminalRow } from '../../core/screen/machine-terminals.ts'
import type { HubPlace } from '../../hub/client/hub-address.ts'
import { messageOf } from '../../base/error-message.ts'
import { say, UsageError } from '../../core/io.ts'
import { HubTerminals } from '../../wire/attach/hub-terminal.ts'
import { attach as show } from '../../wire/attach/attach-terminal.ts'

/** Attaches the user's terminal to a terminal on any machine of a hub, only through the hub. Detaching stops nothing. */
export async function attachFar(
  io: Io,
  { url, key, env = {} }: HubPlace,
  { word, crew }: { word: string | undefined; crew?: string | undefined },
): Promise<number> {
  if (key === undefined)
    throw new UsageError(
      `crew attach: there is no key for ${url}. Set TERMAITE_HUB_KEY to a key with the role admin.`,
      1,
    )
  const hub = new HubTerminals({ url, key, clock: io.clock, env })
  try {
    const row = chosen(await hub.list(), word, crew)
    if (!io.in.isTTY || !io.out.isTTY)
      throw new UsageError(
        `crew attach needs a terminal. In one, type: termaite crew attach --server ${url} ${wordOf(row)}`,
      )
    const terminal = hub.open(row)
    const left = await show(terminal, io)
    if (terminal.problem !== undefined) throw new Error(terminal.problem)
    if (left === 'exited') say(io, `${row.name} on ${row.machine} has exited, or its machine is gone.`)
    return left === 'ended' ? Number(io.signal.reason) : 0
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`crew attach: ${messageOf(error)}.`, 1)
  } finally {
    hub.close()
  }
}

/** How a person names a terminal: its machine, and its slot or its name on that machine. */
const wordOf = ({ machine, name }: TerminalRow) => `${machine}/${name.replace(/^slot (\d+)$/, '$1')}`

/** The terminal that a person named. If none or several match, throws an error that lists the terminals. */
function chosen(rows: readonly TerminalRow[], word: string | undefined, crew?: string | undefined): TerminalRow {
  const list = rows.map((row) => `  ${wordOf(row)}  ${[row.agent, row.crew ?? row.project].join(' · ')}`).join('\n')
  const all = rows.length === 0 ? 'No machine shows a terminal at this hub.' : `There are:\n${list}`
  if (word === undefined) throw new UsageError(`crew attach: which terminal? Use <machine>/<slot>. ${all}`)
  const found = rows.filter(
    (row) =>
      [wordOf(row), `${row.machine}/${row.name}`, `${row.machine}/${row.hubAgent ?? ''}`].includes(word) &&
      (crew === undefined || row.crew === crew),
  )
  if (found.length === 0) throw new UsageError(`crew attach: there is no terminal ${word}. ${all}`, 1)
  if (found.length === 1) return found[0]!
  const crews = found.flatMap((row) => (row.crew === undefined ? [] : [row.crew])).join(', ')
  throw new UsageError(
    `crew attach: ${found.length} terminals are called ${word}. Name the crew with --workspace: ${crews}.`,
    1,
  )
}
