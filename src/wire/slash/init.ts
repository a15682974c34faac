import type { Command, CommandWorld } from '../../core/talk/command.ts'
import type { Event } from '../../core/talk/entry.ts'
import type { Hold } from '../desk/hold.ts'
import { runInit } from '../init/turn.ts'
import { oneLine } from '../table.ts'

export function initCommand(hold: Hold): Command {
  return {
    name: 'init',
    help: 'Let an agent look through the project and write AGENTS.md; asks first.',
    matters: true,
    async run(_args, { say, ask, signal }) {
      say('Looking through the project for an AGENTS.md; Esc cancels.', 'note')
      for await (const event of runInit(hold.app(), { ask, signal }))
        if (event.type === 'inner') progress(event.event, say)
        else outcome(event, say)
    },
  }
}

/** Who looks at what, and who failed. */
function progress(event: Event, say: CommandWorld['say']): void {
  if (event.type === 'call')
    say(oneLine(`${event.by}: ${event.tool} ${JSON.stringify(event.input) ?? ''}`, 120), 'note')
  if (event.type === 'attempt')
    say(oneLine(`${event.by}: ${event.failure.kind}: ${event.failure.message}`, 300), 'note')
}

function outcome(event: Event, say: CommandWorld['say']): void {
  if (event.type === 'note') say(event.text, 'note')
  if (event.type !== 'end') return
  if (!event.outcome.ok) say(event.outcome.failure.message, 'error')
  else if (!event.outcome.text.startsWith('# AGENTS.md')) say(event.outcome.text, 'note')
}
