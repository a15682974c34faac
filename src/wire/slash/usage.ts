import type { Command } from '../../core/talk/command.ts'
import type { Hold } from '../desk/hold.ts'
import { usageTable } from '../usage-table.ts'
import { block } from './block.ts'
import { goingOn, knownWord } from './choose.ts'
import { withIndex } from './indexed.ts'

const rows = ['agent', 'day', 'project'] as const

export function usageCommand(hold: Hold): Command {
  return {
    name: 'usage',
    words: '[agent|day|project]',
    help: 'Tokens and cost, each with how it is known.',
    matters: true,
    complete: (typed) => goingOn(typed, rows),
    async run(args, { say }) {
      const by = args.trim() === '' ? 'agent' : knownWord('row', args.trim(), rows)
      const used = await withIndex(hold, (index, project) =>
        index.usage({ by, ...(by === 'project' ? {} : { project }) }),
      )
      if (used.length === 0) say('Nothing was used yet.', 'note')
      else say(block(usageTable(by, used)), 'text')
    },
  }
}
