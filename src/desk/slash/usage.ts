import type { Command } from '../../core/talk/command.ts'
import type { DeskControls } from '../desk-controls.ts'
import { activityOf, agentResults, usageRows, usageTable } from '../usage-table.ts'
import { block } from './shared/code-block.ts'
import { goingOn, knownWord } from './shared/choice.ts'
import { withIndex } from './shared/session-index.ts'

export function usageCommand(controls: DeskControls): Command {
  return {
    name: 'usage',
    words: '[agent|day|…]',
    help: 'Show tokens, cost, and how answers were judged.',
    matters: true,
    complete: (typed) => goingOn(typed, usageRows),
    async run(args, { say }) {
      const by = args.trim() === '' ? 'agent' : knownWord('row', args.trim(), usageRows)
      const parts = await withIndex(controls, async (index, here) => {
        const of = by === 'project' ? {} : { project: here }
        return {
          used: await index.usage({ by, ...of }),
          done: await activityOf(index, { by, now: controls.app().io.clock.now(), ...of }),
          verdicts: await index.verdicts(of),
          results: await agentResults(index, of),
        }
      })
      if (parts.used.length === 0) say('No usage yet.', 'note')
      else say(block(usageTable(by, parts)), 'text')
    },
  }
}
