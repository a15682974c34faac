import type { Parsed } from '../cli-command.ts'
import type { Io } from '../../core/io.ts'
import { print, say } from '../../core/io.ts'
import { unfinishedTurns } from '../../app/unfinished-turns.ts'
import { localTime } from '../../base/local-time.ts'
import { oneLine, table } from '../../base/table.ts'

export async function run(io: Io, { values }: Parsed): Promise<number> {
  const turns = await unfinishedTurns(io)
  if (values.json) print(io, JSON.stringify(turns))
  else if (turns.length === 0) say(io, 'No turn is running.')
  else
    print(
      io,
      table([
        ['TURN', 'PID', 'SINCE', 'AGENT', 'PROJECT', 'PROMPT'],
        ...turns.map(({ turn, pid, since, by, project, prompt, slot }) => [
          turn,
          // An idle slot has no process of ours.
          String(pid ?? (slot ? '' : 'elsewhere')),
          localTime(since),
          slot ? `${by} ${slot.state}` : (by ?? ''),
          project,
          oneLine(prompt, 50),
        ]),
      ]),
    )
  return 0
}
