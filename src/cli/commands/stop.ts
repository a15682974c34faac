import type { Parsed } from '../cli-command.ts'
import type { Io } from '../../core/io.ts'
import type { UnfinishedTurn } from '../../app/unfinished-turns.ts'
import { errorCode } from '../../base/files.ts'
import { killSlot } from '../../app/crew/crew-keeper.ts'
import { print, say, UsageError } from '../../core/io.ts'
import { peerOf } from '../../app/peers.ts'
import { homeOf } from '../../app/place.ts'
import { unfinishedTurns } from '../../app/unfinished-turns.ts'
import { oneLine } from '../../base/table.ts'

const patienceMs = 15_000

/** Cancels a turn in the process that runs it, as Esc there would, and waits for its end. A crew agent is ended. */
export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const turns = await unfinishedTurns(io)
  const wanted = values.all ? turns : turns.filter(({ turn }) => words[0] !== undefined && turn.startsWith(words[0]))
  if (!values.all && words[0] === undefined)
    throw new UsageError('stop: which turn? `termaite ps` lists them; --all stops every one.')
  if (!values.all && wanted.length !== 1)
    throw new UsageError(
      wanted.length === 0
        ? `stop: no running turn begins with "${words[0]}".`
        : `stop: ${wanted.length} turns begin with "${words[0]}". Type more of the id.`,
      1,
    )
  if (wanted.length === 0) say(io, 'No turn is running.')
  const cancelled = await Promise.all(wanted.map((turn) => (turn.slot ? killSlot(io, turn.slot) : cancel(io, turn))))
  const reached = wanted.filter((turn, index) => cancelled[index] || (!turn.slot && interrupt(io, turn)))
  const until = io.clock.elapsed() + patienceMs
  let left = reached.map(({ turn }) => turn)
  while (left.length > 0 && io.clock.elapsed() < until && !io.signal.aborted) {
    await io.clock.sleep(100, io.signal)
    const running = new Set((await unfinishedTurns(io)).map(({ turn }) => turn))
    left = left.filter((turn) => running.has(turn))
  }
  for (const turn of reached) {
    if (left.includes(turn.turn)) say(io, `termaite: ${turn.turn} has not stopped yet (pid ${turn.pid}).`)
    else print(io, `Stopped ${turn.turn}: ${oneLine(turn.prompt, 60)}`)
  }
  return left.length > 0 || reached.length < wanted.length ? 1 : 0
}

/** Asks the turn's process to cancel it; returns whether that process agreed. */
async function cancel(io: Io, { turn }: UnfinishedTurn): Promise<boolean> {
  const peer = await peerOf(homeOf(io.env), turn, io.clock)
  const taken = (await peer?.cancel(turn)) === true
  await peer?.close()
  return taken
}

/** Interrupts the turn's process; returns whether it makes sense to wait for the end. A process that is already gone counts. */
function interrupt(io: Io, { turn, pid }: UnfinishedTurn): boolean {
  if (pid === undefined) {
    say(io, `termaite: ${turn} runs on another machine or in another container; stop it there.`)
    return false
  }
  try {
    process.kill(pid, 'SIGINT')
    return true
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return true
    say(io, `termaite: ${turn} could not be stopped: process ${pid} is another user's; stop it as that user.`)
    return false
  }
}
