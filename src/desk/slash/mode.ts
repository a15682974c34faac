import type { Command } from '../../core/talk/command.ts'
import type { WorkMode } from '../../core/work/agent.ts'
import type { Hold } from '../hold.ts'
import { workModes } from '../../settings/work-mode.ts'
import { choose, goingOn, knownWord } from './choose.ts'

const modes = Object.keys(workModes) as WorkMode[]

export function modeCommand(hold: Hold): Command {
  return {
    name: 'mode',
    words: `[${modes.join('|')}]`,
    help: 'Whose turns these are: everybody’s, our own agents’, or planning only.',
    complete: (typed) => goingOn(typed, modes),
    async run(args, world) {
      const options = modes.map((mode) => ({ id: mode, label: `${mode}: ${workModes[mode]}` }))
      const mode =
        args.trim() === ''
          ? await choose(world, `Which mode? Now: ${hold.standing().mode}.`, options)
          : knownWord('mode', args.trim(), modes)
      if (mode === undefined) return
      for (const words of await hold.setMode(mode)) world.say(words, 'note')
      world.say(`The mode is ${mode}: ${workModes[mode]}.`, 'note')
    },
  }
}
