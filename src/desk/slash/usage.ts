import type { Command } from '../../core/talk/command.ts'
import type { Hold } from '../hold.ts'
import { usageRows, usageTable } from '../usage-table.ts'
import { block } from './block.ts'
import { goingOn, knownWord } from './choose.ts'
import { withIndex } from './indexed.ts'

export function usageCommand(hold: Hold): Command {
  return {
    name: 'usage',
    words: '[agent|day|…]',
    help: 'Tokens and cost, each with how it is known.',
    matters: true,
    complete: (typed) => goingOn(typed, usageRows),
    async run(args, { say }) {
      const by = args.trim() === '' ? 'agent' : knownWord('row', args.trim(), usageRows)
      const [used, verdicts] = await withIndex(hold, async (index, here) => {
        const of = by === 'project' ? {} : { project: here }
        return [await index.usage({ by, ...of }), await index.verdicts(of)] as const
      })
      if (used.length === 0) say('No usage yet.', 'note')
      else say(block(usageTable(by, used, verdicts)), 'text')
    },
  }
}
