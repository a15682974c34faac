import type { Io } from '../../core/io.ts'
import type { OpenCrew } from '../../crew/machine/crews.ts'
import { messageOf } from '../../base/error-message.ts'
import { say, UsageError } from '../../core/io.ts'
import { noMore, slotOf } from './crew-verbs.ts'

/** Attaches the user's terminal to an agent's terminal. Detaching stops nothing. */
export async function attach(io: Io, { crew, parts }: OpenCrew, [word, ...more]: readonly string[]): Promise<number> {
  noMore('attach', more)
  const { id, terminal: kept, state, why } = await crew.slot(slotOf('attach', word))
  const terminal = kept && (await parts.find(kept.id))
  if (!terminal) throw new UsageError(`slot ${id} has no terminal: it is ${state}${why ? ` (${why})` : ''}.`, 1)
  if (!io.in.isTTY || !io.out.isTTY) {
    const how = terminal.attach ?? `termaite crew attach ${id}`
    throw new UsageError(`crew attach needs a terminal. In one, type: ${how}`)
  }
  const { attach: show } = await import('../../wire/attach/attach-terminal.ts')
  try {
    const left = await show(terminal, io)
    if (left === 'exited') say(io, `The agent in slot ${id} has exited.`)
    return left === 'ended' ? Number(io.signal.reason) : 0
  } catch (error) {
    throw new UsageError(`crew attach: ${messageOf(error)}.`, 1)
  }
}
