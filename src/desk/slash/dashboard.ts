import type { Command, CommandWorld } from '../../core/talk/command.ts'
import type { StartedHub } from '../../hub/client/started-hub.ts'
import type { DeskControls } from '../desk-controls.ts'
import { UsageError } from '../../core/io.ts'
import { goingOn } from './shared/choice.ts'

/**
 * The command /dashboard: a link to the page of the hub. A hub that it starts ends with this chat, unless it is to be kept. `port`: where
 * it listens if that port is free; the usual one without it.
 */
export function dashboardCommand(controls: DeskControls, port?: number): Command {
  let own: StartedHub | undefined
  return {
    name: 'dashboard',
    beside: true,
    words: '[keep]',
    help: 'Open the page with all agents and tasks; starts the hub if none runs.',
    complete: (typed) => goingOn(typed, ['keep']),
    async run(args, world) {
      const isKept = args.trim() === 'keep'
      if (args.trim() !== '' && !isKept)
        throw new UsageError('/dashboard takes no argument but keep, which lets the hub go on after this chat.')
      const running = await linkTo(controls)
      if (running === undefined) {
        own = await start(controls, world, port)
        if (own === undefined) return
        const { url, elsewhere } = own
        const words = elsewhere ? ` The usual port is taken, so it listens on ${URL.parse(url)?.port}.` : ''
        world.say(`The hub was started at ${url}.${words}`, 'note')
      }
      const { page, link, words } = running ?? (await linkTo(controls))!
      const { io, place } = controls.app()
      const { openInBrowser } = await import('./shared/browser.ts')
      const isOpened = await openInBrowser({ env: io.env, cwd: place.cwd }, page)
      const way = isOpened
        ? 'Your browser opens the page. If it is not signed in there yet, open the link above.\n'
        : ''
      world.say(`${link}\n\n${way}${words}`, 'text')
      if (isKept) own?.release()
      if (own?.runs() && (isKept || running === undefined))
        world.say(
          isKept
            ? 'The hub goes on after this chat. To stop it: termaite stop hub'
            : 'The hub ends with this chat; /dashboard keep lets it go on. To stop it: termaite stop hub',
          'note',
        )
    },
  }
}

type PageLink = { page: string; link: string; words: string }

/** Makes a link to the page of the running hub; undefined if no hub runs on this machine and the person named no other. */
async function linkTo(controls: DeskControls): Promise<PageLink | undefined> {
  const { io, settings } = controls.app()
  const [{ makePageLink }, { HubClient, faultOf }, { hubPlace, namedHub }, { HubAway }] = await Promise.all([
    import('../../hub/client/page-link.ts'),
    import('../../hub/client/hub-client.ts'),
    import('../../hub/client/hub-address.ts'),
    import('../../hub/engine/remote-hub.ts'),
  ])
  const hub = new HubClient(hubPlace(io, settings))
  try {
    const made = await makePageLink(hub, undefined, io.clock.now())
    return { ...made, page: made.link.replace(/\/#.*$/, '') }
  } catch (error) {
    if (error instanceof HubAway && namedHub(io, settings) === undefined) return undefined
    throw faultOf(hub, error)
  }
}

/** Starts a hub that ends with this chat; undefined if the person cancelled that. */
async function start(controls: DeskControls, world: CommandWorld, port?: number): Promise<StartedHub | undefined> {
  const { startHub } = await import('../../hub/client/started-hub.ts')
  const { io, place } = controls.app()
  world.progress?.('/dashboard: starting the hub')
  try {
    const hub = await startHub({ io, home: place.home, cwd: place.cwd }, world.signal, port)
    controls.atEnd(() => hub.end())
    return hub
  } catch (error) {
    if (!world.signal.aborted) throw error
    world.say('The start of the hub was cancelled; no hub runs.', 'note')
    return undefined
  }
}
