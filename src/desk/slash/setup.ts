import type { Command } from '../../core/talk/command.ts'
import type { Hold } from '../hold.ts'
import { runSetup } from '../setup/steps.ts'

/** Run by itself where no agent is configured: the same steps as `termaite setup`, on cards. */
export function setupCommand(hold: Hold): Command {
  return {
    name: 'setup',
    screen: true,
    help: 'Find the agent CLIs and models of this machine and choose who takes turns.',
    async run(_args, { say, ask, signal }) {
      const { io, place } = hold.app()
      const done = await runSetup({ say, ask, signal, env: io.env, home: place.home, clock: io.clock })
      if (done === 'written') await hold.reload()
    },
  }
}
