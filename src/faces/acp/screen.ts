import type { CommandScreen } from '../../core/talk/command.ts'

/** What a command may do with a screen, where there is none. */
export const noScreen: CommandScreen = {
  suspend: async () => {
    throw new Error('this needs a terminal: run it in one, as `termaite`')
  },
  copy: async (text) => text,
  clear: () => {},
  fill: () => {},
  palette: () => {},
  exit: () => {},
}
