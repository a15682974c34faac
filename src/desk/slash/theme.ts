import type { Command } from '../../core/talk/command.ts'
import type { DeskControls } from '../desk-controls.ts'
import { themeMeanings, themeNames } from '../../core/talk/themes.ts'
import { choose, goingOn, knownWord } from './shared/choice.ts'

export function themeCommand(controls: DeskControls): Command {
  return {
    name: 'theme',
    words: `[${themeNames.join('|')}]`,
    help: 'Choose the colours of the chat.',
    complete: (typed) => goingOn(typed, themeNames),
    async run(args, world) {
      const typed = args.trim()
      const { settings, place, io } = controls.app()
      const now = settings.theme
      const options = themeNames.map((id) => ({ id, label: `${id}: ${themeMeanings[id]}` }))
      const theme =
        typed !== ''
          ? knownWord('theme', typed, themeNames)
          : world.screen.theme
            ? await world.screen.theme(now, world.signal)
            : await choose(world, `Which colours? Now: ${now}.`, options)
      if (theme === undefined) return
      const { saveSetting } = await import('../../settings/saved-setting.ts')
      await saveSetting(place.home, 'theme', theme)
      await controls.reload()
      const unseen = io.env.NO_COLOR ? ' It is not seen while NO_COLOR is set.' : ''
      world.say(`The theme is ${theme}: ${themeMeanings[theme]}. It is saved in your settings.${unseen}`, 'note')
    },
  }
}
