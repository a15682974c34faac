import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import { fileStore } from '../../store/files/store.ts'
import { print, say, UsageError } from '../io.ts'
import { homeOf } from '../place.ts'
import { runningTurns } from '../running.ts'
import { oneLine } from '../table.ts'

const patienceMs = 15_000

/** Interrupts the process that runs a turn, as Ctrl+C there would, and waits until the turn is over. */
export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const home = homeOf(io.env)
  const store = fileStore(home, { clock: io.clock })
  const turns = await runningTurns(home, store)
  const wanted = values.all ? turns : turns.filter(({ turn }) => words[0] !== undefined && turn.startsWith(words[0]))
  if (!values.all && words[0] === undefined)
    throw new UsageError('stop: which one? `termaite ps` lists them; --all stops every one.')
  if (!values.all && wanted.length !== 1)
    throw new UsageError(
      wanted.length === 0
        ? `stop: no turn at work begins with "${words[0]}".`
        : `stop: ${wanted.length} turns begin with "${words[0]}": give more of it.`,
      1,
    )
  if (wanted.length === 0) say(io, 'Nothing is at work.')
  for (const { pid } of wanted) process.kill(pid, 'SIGINT')
  const until = io.clock.now() + patienceMs
  let left = wanted.map(({ turn }) => turn)
  while (left.length > 0 && io.clock.now() < until && !io.signal.aborted) {
    await io.clock.sleep(100, io.signal)
    const running = new Set((await runningTurns(home, store)).map(({ turn }) => turn))
    left = left.filter((turn) => running.has(turn))
  }
  for (const turn of wanted) {
    if (left.includes(turn.turn)) say(io, `termaite: ${turn.turn} has not stopped yet (pid ${turn.pid}).`)
    else print(io, `Stopped ${turn.turn}: ${oneLine(turn.prompt, 60)}`)
  }
  return left.length > 0 ? 1 : 0
}
