import type { Command } from '../../../core/talk/command.ts'
import type { WorkMode } from '../../../core/work/agent.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { workModes } from '../../../settings/work-mode.ts'
import { choose, goingOn, knownWord } from '../shared/choice.ts'

const modes = Object.keys(workModes) as WorkMode[]

export function modeCommand(controls: DeskControls): Command {
  return {
    name: 'mode',
    words: `[${modes.join('|')}]`,
    help: 'Choose the mode: chat, agent, plan or coordinator.',
    complete: (typed) => goingOn(typed, modes),
    async run(args, world) {
      const options = modes.map((mode) => ({ id: mode, label: `${mode}: ${workModes[mode]}` }))
      const mode =
        args.trim() === ''
          ? await choose(world, `Which mode? Now: ${controls.standing().mode}.`, options)
          : knownWord('mode', args.trim(), modes)
      if (mode === undefined) return
      for (const words of await controls.setMode(mode)) world.say(words, 'note')
      world.say(`The mode is ${mode}: ${workModes[mode]}.`, 'note')
    },
  }
}

export function coordinatorCommand(controls: DeskControls): Command {
  return {
    name: 'coordinator',
    words: '[prompt]',
    help: 'Have one agent send workers, in a conversation of its own; again to leave.',
    async run(args, { say }) {
      const wish = args.trim()
      const { mode } = controls.app()
      const next = mode !== 'coordinator' ? 'coordinator' : wish === '' ? 'chat' : undefined
      if (next) for (const words of await controls.setMode(next)) say(words, 'note')
      if (wish !== '') controls.send(wish)
      else say(`The mode is ${next ?? mode}: ${workModes[next ?? mode]}.`, 'note')
    },
  }
}

export function planCommand(controls: DeskControls): Command {
  return {
    name: 'plan',
    words: '[prompt]',
    help: 'Plan without changing anything; again to leave plan mode.',
    async run(args, { say }) {
      const wish = args.trim()
      if (controls.app().mode !== 'plan') for (const words of await controls.setMode('plan')) say(words, 'note')
      else if (wish === '') controls.leavePlan()
      // The status line follows a moment later, so the mode is read from the app.
      const { mode } = controls.app()
      if (wish === '') say(`The mode is ${mode}: ${workModes[mode]}.`, 'note')
      else controls.send(wish)
    },
  }
}
