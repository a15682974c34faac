import type { Command } from '../../core/talk/command.ts'
import type { DeskControls } from '../desk-controls.ts'
import { runSetup } from '../setup.ts'

/**
 * The steps of `termaite setup` on cards; runs by itself if no agent is configured. `guided`: the screen itself says what to do when
 * nothing is found.
 */
export function setupCommand(controls: DeskControls, guided = false): Command {
  return {
    name: 'setup',
    screen: true,
    help: 'Find the agents on this machine and choose which ones take turns.',
    async run(_args, { say, ask, signal }) {
      const { io, place } = controls.app()
      const done = await runSetup({
        say,
        ask,
        signal,
        env: io.env,
        cwd: place.cwd,
        home: place.home,
        clock: io.clock,
        attended: true,
        guided,
      })
      if (done === 'written') await controls.reload()
    },
  }
}
