import type { Parsed } from '../arguments/cli-command.ts'
import type { Io } from '../../core/io.ts'
import type { Event } from '../../core/talk/entry.ts'
import { readyWatchdog } from '../../base/process/watchdog.ts'
import { noBudget } from '../../core/work/budget.ts'
import { exitCode } from '../output/print.ts'
import { openApp } from '../../turn/app.ts'
import { runInit } from '../../people/init/init-turn.ts'
import { say, UsageError } from '../../core/io.ts'
import { personAt } from '../../questions/terminal-questions.ts'
import { placeOf } from '../../home/place.ts'
import { enabledAgents, noAgentWords } from '../../settings/enabled-agents.ts'
import { readSettings } from '../../settings/settings.ts'
import { oneLine } from '../../base/text/table.ts'

/** Lets an agent read the project and write AGENTS.md, after a yes. */
export async function run(io: Io, { values }: Parsed): Promise<number> {
  // First checks whether somebody can be asked, because the agent works for minutes before it asks.
  if (!values.yes && (io.piped || !io.in.isTTY))
    throw new UsageError(
      'init asks before it writes, and there is no terminal to ask in. Add --yes to write without asking.',
    )
  const place = placeOf(io)
  const settings = await readSettings({ home: place.home, project: place.root }, { env: io.env })
  for (const warning of settings.warnings) say(io, `termaite: ${warning}`)
  if (enabledAgents(settings).length === 0) throw new UsageError(noAgentWords(settings))
  const app = await openApp(io, place, settings, { budget: noBudget })
  for (const warning of app.warnings) say(io, `termaite: ${warning}`)
  readyWatchdog(io.env)
  await app.conversation.settle()
  say(io, `Reading ${place.root}. Ctrl+C cancels.`)
  const ask = values.yes ? async () => ['write'] : personAt(io)
  let code = 1
  for await (const event of runInit(app, { ask, signal: io.signal })) {
    const line = initLine(event)
    if (line) say(io, line.how === 'error' ? `termaite: ${line.text}` : line.text)
    if (event.type === 'end') code = exitCode(event.outcome)
  }
  return code
}

type InitLine = { how: 'note' | 'error'; text: string }

/** The progress line for an event: tool calls, failed attempts and the end. */
export function initLine(event: Event): InitLine | undefined {
  switch (event.type) {
    case 'inner':
      return progress(event.event)
    case 'note':
      return { how: 'note', text: event.text }
    case 'end': {
      const { outcome } = event
      if (!outcome.ok) return { how: 'error', text: outcome.failure.message }
      // The document was shown before the person agreed, and a note names its file.
      return outcome.text.startsWith('# ') ? undefined : { how: 'note', text: outcome.text }
    }
    default:
      return undefined
  }
}

function progress(event: Event): InitLine | undefined {
  if (event.type === 'call')
    return { how: 'note', text: oneLine(`${event.by}: ${event.tool} ${JSON.stringify(event.input) ?? ''}`, 120) }
  return undefined
}
