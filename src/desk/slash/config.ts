import type { Command } from '../../core/talk/command.ts'
import type { DeskControls } from '../desk-controls.ts'
import { editSettings } from '../../settings/settings-editor.ts'

export function configCommand(controls: DeskControls): Command {
  return {
    name: 'config',
    screen: true,
    help: 'Edit the settings.',
    matters: true,
    async run(_args, { say, ask, signal, screen }) {
      const { io, place } = controls.app()
      const wrong = await editSettings({
        home: place.home,
        env: io.env,
        open: (edit) => screen.suspend(edit),
        validate: () => controls.reload(),
        ask,
        signal,
      })
      if (wrong) say('The old settings stay in effect; /config opens the file again.', 'note')
      else say('The settings are valid and in effect.', 'note')
    },
  }
}
