import type { Command } from '../../core/talk/command.ts'
import type { DeskControls } from '../desk-controls.ts'
import { goingOn, knownWord } from './shared/choice.ts'

const words = ['on', 'off'] as const

export function vimCommand(controls: DeskControls): Command {
  return {
    name: 'vim',
    screen: true,
    words: '[on|off]',
    help: 'Turn the keys of vim in the input on or off.',
    complete: (typed) => goingOn(typed, words),
    async run(args, { say }) {
      const typed = args.trim()
      const { settings, place } = controls.app()
      const on = typed === '' ? !settings.vim : knownWord('choice', typed, words) === 'on'
      const { saveSetting } = await import('../../settings/saved-setting.ts')
      await saveSetting(place.home, 'vim', on)
      await controls.reload()
      say(
        on
          ? 'The input has the keys of vim. Esc leaves insert mode; in normal mode Esc cancels, as before. /vim turns them off.'
          : 'The input has its usual keys again.',
        'note',
      )
    },
  }
}
