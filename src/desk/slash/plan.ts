import type { Command } from '../../core/talk/command.ts'
import type { Hold } from '../hold.ts'
import { workModes } from '../../settings/work-mode.ts'

export function planCommand(hold: Hold): Command {
  return {
    name: 'plan',
    words: '[prompt]',
    help: 'Plan first: our own agent looks around and changes nothing. Again to leave.',
    async run(args, { say }) {
      const wish = args.trim()
      if (hold.standing().mode !== 'plan') for (const words of await hold.setMode('plan')) say(words, 'note')
      else if (wish === '') hold.leavePlan()
      const { mode } = hold.standing()
      if (wish === '') say(`The mode is ${mode}: ${workModes[mode]}.`, 'note')
      else hold.send(wish)
    },
  }
}
