import type { Command } from '../../core/talk/command.ts'
import type { Hold } from '../desk/hold.ts'
import { knownWord } from './choose.ts'

const meanings = { chat: 'the agents take turns in one conversation' } as const

export function modeCommand(hold: Hold): Command {
  return {
    name: 'mode',
    help: 'Which mode this is.',
    async run(args, { say }) {
      if (args.trim() !== '') knownWord('mode', args.trim(), Object.keys(meanings))
      const { mode } = hold.standing()
      say(`The mode is ${mode}: ${meanings[mode]}. It is the only one in this version.`, 'note')
    },
  }
}
