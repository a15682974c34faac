import type { Parsed } from '../arguments/cli-command.ts'
import type { Io } from '../../core/io.ts'
import type { RunningProcess } from '../../border/running-processes.ts'
import type { UnfinishedTurn } from '../../turn/unfinished-turns.ts'
import { shortIds } from '../../base/id.ts'
import { listedTime, print, say } from '../../core/io.ts'
import { homeOf } from '../../home/place.ts'
import { runningProcesses } from '../../border/running-processes.ts'
import { loneTable, loneTerminals } from '../../crew/machine/stray-terminals.ts'
import { unfinishedTurns } from '../../turn/unfinished-turns.ts'
import { oneLine, table } from '../../base/text/table.ts'

/**
 * Lists the running turns, our long-running processes (chats, hubs, agents and servers), and agents in terminals that none of these
 * manages.
 */
export async function run(io: Io, { values }: Parsed): Promise<number> {
  const turns = await unfinishedTurns(io)
  const processes = runningProcesses(homeOf(io.env), io.clock.now())
  const terminals = await loneTerminals(io)
  if (values.json) print(io, JSON.stringify([...turns, ...processes, ...terminals]))
  else if (turns.length + processes.length + terminals.length === 0) say(io, 'No turn is running.')
  else {
    const parts = [
      ...(turns.length > 0 ? [turnTable(io, turns)] : []),
      ...(processes.length > 0 ? [processTable(io, processes)] : []),
      ...(terminals.length > 0 ? [loneTable(io, terminals)] : []),
    ]
    print(io, parts.join('\n\n'))
  }
  return 0
}

function turnTable(io: Io, turns: readonly UnfinishedTurn[]): string {
  const short = shortIds(turns.map(({ turn }) => turn))
  return table([
    ['TURN', 'PID', 'SINCE', 'AGENT', 'PROJECT', 'PROMPT'],
    ...turns.map(({ turn, pid, since, by, project, prompt, slot }) => [
      short(turn),
      // An idle slot has no process of ours.
      String(pid ?? (slot ? '' : 'elsewhere')),
      listedTime(io, since),
      slot ? `${by} ${slot.state}` : (by ?? ''),
      project,
      oneLine(prompt, 50),
    ]),
  ])
}

export function processTable(io: Io, processes: readonly RunningProcess[]): string {
  return table([
    ['PROCESS', 'PID', 'SINCE', 'WHAT', 'FOLDER'],
    ...processes.map(({ process, pid, since, project = '', about, url }) => [
      process,
      String(pid ?? 'elsewhere'),
      listedTime(io, since),
      url ?? about ?? '',
      project,
    ]),
  ])
}
