import type { Command } from '../../core/talk/command.ts'
import type { DeskControls } from '../desk-controls.ts'
import { UsageError } from '../../core/io.ts'
import { atDesk } from '../../settings/enabled-agents.ts'
import { goingOn } from './shared/choice.ts'
import { block, blockColumns } from './shared/code-block.ts'

/** The rows of an 80×24 terminal that the chat itself needs. */
const rowsOfChat = 4

/** The command /doctor: what `termaite doctor` says. `builtIn` has the names that no file of a command can take. */
export function doctorCommand(controls: DeskControls, builtIn: () => readonly string[]): Command {
  return {
    name: 'doctor',
    beside: true,
    words: '[agent] [--verbose]',
    help: 'Check each agent: what is wrong, and what to do next.',
    complete: (typed) => goingOn(typed, [...controls.app().settings.agents.map(({ name }) => name), '--verbose']),
    async run(args, world) {
      const words = args.split(/\s+/).filter((word) => word !== '')
      const names = words.filter((word) => word !== '--verbose' && word !== '-v')
      if (names.length > 1)
        throw new UsageError('/doctor takes the name of one agent and --verbose, for example: /doctor codex --verbose')
      const [{ agentsToExamine, examine, fileFaults }, { askedWords, briefReport, fullReport }, { ledgerDisk }] =
        await Promise.all([
          import('../../people/doctor/examination.ts'),
          import('../../people/doctor/examination-report.ts'),
          import('../ledger-disk.ts'),
        ])
      const { io, place, settings } = controls.app()
      const wanted = agentsToExamine(settings, names[0], atDesk)
      const tell = (text: string) => world.say(text, 'error')
      world.say(`${askedWords(wanted)}. Esc cancels.`, 'note')
      const count = (done: number) =>
        world.progress?.(`/doctor: ${done} of ${wanted.length} ${wanted.length === 1 ? 'agent' : 'agents'} examined`)
      count(0)
      const stopped = { ...io, signal: AbortSignal.any([io.signal, world.signal]) }
      const parts = { io: stopped, place, settings, quick: false, tell, examined: count }
      const [found, faults, disk] = await Promise.all([
        examine(parts, wanted),
        fileFaults(io, place, builtIn()),
        ledgerDisk(io, place.home, settings),
      ])
      if (world.signal.aborted) return world.say('The examination was cancelled.', 'note')
      for (const fault of [...faults, ...(disk === undefined ? [] : [disk])]) tell(fault)
      const columns = blockColumns(io.out.columns)
      const taken = rowsOfChat + faults.length + (disk === undefined ? 0 : 1)
      const brief = () => briefReport(found, { taken, more: '/doctor --verbose', ...(columns ? { columns } : {}) })
      world.say(block(words.length > 0 ? fullReport(found) : brief()), 'text')
    },
  }
}
