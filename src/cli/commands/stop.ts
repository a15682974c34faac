import type { Parsed } from '../arguments/cli-command.ts'
import type { Io } from '../../core/io.ts'
import type { UnfinishedTurn } from '../../turn/unfinished-turns.ts'
import { errorCode } from '../../base/files/files.ts'
import { killSlot } from '../../crew/machine/crew-keeper.ts'
import { print, say, UsageError } from '../../core/io.ts'
import { peerOf } from '../../wire/peer/peers.ts'
import { homeOf } from '../../home/place.ts'
import { runningProcesses } from '../../border/running-processes.ts'
import { endTerminals } from '../../crew/machine/stray-terminals.ts'
import { unfinishedTurns } from '../../turn/unfinished-turns.ts'
import { oneLine } from '../../base/text/table.ts'

const patienceMs = 15_000

/**
 * Cancels a turn in the process that runs it, as Esc there would, and waits until it is over. Stops a crew agent. Stops a long-running
 * process of ours, such as the hub, by its name in `ps`.
 */
export async function run(io: Io, { values, words }: Parsed): Promise<number> {
  const word = words.join(' ')
  if (!values.all && word === '')
    throw new UsageError(
      'stop: the id of a turn or the name of a process is missing. `termaite ps` lists them; --all stops all turns.',
    )
  const turns = await unfinishedTurns(io)
  if (values.all) return stopTurns(io, turns)
  const wanted = turns.filter(({ turn }) => turn.startsWith(word))
  if (wanted.length === 1) return stopTurns(io, wanted)
  if (wanted.length > 1)
    throw new UsageError(
      `stop: ${wanted.length} running turns have an id that begins with "${word}". Type more of the id.`,
      1,
    )
  return word.startsWith('terminal:') ? stopTerminal(io, word) : stopProcess(io, word)
}

/** Stops the agent in a terminal that no process supervises any more. */
async function stopTerminal(io: Io, word: string): Promise<number> {
  const ended = await endTerminals(io, ({ terminal, of }) => of !== 'slot' && terminal === word)
  if (ended.length === 0) throw new UsageError(`stop: there is no ${word}. \`termaite ps\` lists them.`, 1)
  for (const { title = '' } of ended) print(io, `Stopped ${word}: ${oneLine(title, 60)}`)
  return 0
}

async function stopTurns(io: Io, wanted: readonly UnfinishedTurn[]): Promise<number> {
  if (wanted.length === 0) say(io, 'No turn is running.')
  const cancelled = await Promise.all(wanted.map((turn) => (turn.slot ? killSlot(io, turn.slot) : cancel(io, turn))))
  const reached = wanted.filter((turn, index) => cancelled[index] || (!turn.slot && interrupt(io, turn)))
  let left = reached.map(({ turn }) => turn)
  await patiently(io, async () => {
    const running = new Set((await unfinishedTurns(io)).map(({ turn }) => turn))
    left = left.filter((turn) => running.has(turn))
    return left.length === 0
  })
  for (const turn of reached) {
    if (left.includes(turn.turn))
      say(
        io,
        `termaite: ${turn.turn} has not stopped after ${patienceMs / 1000} s. To end its process: kill ${turn.pid}`,
      )
    else print(io, `Stopped ${turn.turn}: ${oneLine(turn.prompt, 60)}`)
  }
  return left.length > 0 || reached.length < wanted.length ? 1 : 0
}

/** Stops the one process of ours that has this kind, name or number. */
async function stopProcess(io: Io, word: string): Promise<number> {
  const running = () => runningProcesses(homeOf(io.env), io.clock.now())
  const found = running().filter(
    ({ process: kind, pid, about }) => kind === word || about === word || String(pid) === word,
  )
  const [wanted] = found
  if (!wanted)
    throw new UsageError(
      `stop: no running turn begins with "${word}", and no process of that name runs. \`termaite ps\` lists both.`,
      1,
    )
  const { process: kind, pid, about, url } = wanted
  const name = ['the', kind, ...(about === undefined ? [] : [about]), ...(url === undefined ? [] : [`at ${url}`])].join(
    ' ',
  )
  if (found.length > 1) {
    const numbers = found.map(({ pid: one }) => one ?? 'elsewhere').join(', ')
    throw new UsageError(
      `stop: ${found.length} processes are named "${word}" (${numbers}). Name one by its number in the column PID of \`termaite ps\`.`,
      1,
    )
  }
  if (!sendSignal(io, name, pid, 'SIGTERM')) return 1
  const gone = await patiently(io, async () => !running().some((other) => other.pid === pid))
  if (gone) print(io, `Stopped ${name} (pid ${pid}).`)
  else say(io, `termaite: ${name} has not stopped yet (pid ${pid}).`)
  return gone ? 0 : 1
}

/** Checks ten times a second until `isSo` returns true or the time is up. Returns whether it did. */
async function patiently(io: Io, isSo: () => Promise<boolean>): Promise<boolean> {
  const until = io.clock.elapsed() + patienceMs
  while (!(await isSo())) {
    if (io.clock.elapsed() >= until || io.signal.aborted) return false
    await io.clock.sleep(100, io.signal)
  }
  return true
}

/** Asks the turn's process to cancel it; returns whether that process agreed. */
async function cancel(io: Io, { turn }: UnfinishedTurn): Promise<boolean> {
  const peer = await peerOf(homeOf(io.env), turn, io.clock)
  const taken = (await peer?.cancel(turn)) === true
  await peer?.close()
  return taken
}

/** Interrupts the turn's process; returns whether it makes sense to wait for the end. */
const interrupt = (io: Io, { turn, pid }: UnfinishedTurn) => sendSignal(io, turn, pid, 'SIGINT')

/** Sends a signal to a process; returns whether it makes sense to wait for its end. A process that is already gone counts. */
function sendSignal(io: Io, name: string, pid: number | undefined, signal: NodeJS.Signals): boolean {
  if (pid === undefined) {
    say(io, `termaite: ${name} runs on another machine or in another container; stop it there.`)
    return false
  }
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return true
    say(io, `termaite: ${name} could not be stopped: process ${pid} is another user's; stop it as that user.`)
    return false
  }
}
