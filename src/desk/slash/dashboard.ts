import type { Command } from '../../core/talk/command.ts'
import type { DeskControls } from '../desk-controls.ts'
import { UsageError } from '../../core/io.ts'

export function dashboardCommand(controls: DeskControls): Command {
  return {
    name: 'dashboard',
    help: 'Show a link to the page with all agents and tasks.',
    async run(_args, { say }) {
      const { io, settings } = controls.app()
      const [{ makePageLink }, { HubClient, faultOf }, { hubPlace }, { HubAway }] = await Promise.all([
        import('../../hub/client/page-link.ts'),
        import('../../hub/client/hub-client.ts'),
        import('../../hub/client/hub-address.ts'),
        import('../../hub/engine/remote-hub.ts'),
      ])
      const hub = new HubClient(hubPlace(io, settings))
      try {
        const { link, words } = await makePageLink(hub, undefined, io.clock.now())
        say(`${link}\n\n${words}`, 'text')
      } catch (error) {
        if (!(error instanceof HubAway)) throw faultOf(hub, error)
        throw new UsageError('no hub runs, and the page is the hub’s. Start one in another terminal: termaite serve')
      }
    },
  }
}
