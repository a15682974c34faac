import type { Command, CommandWorld } from '../../../core/talk/command.ts'
import type { Session } from '../../../store/index/conversation-index.ts'
import type { SessionNode } from '../../session-lookup.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { relativeTime } from '../../../base/time/local-time.ts'
import { UsageError, voiceOf } from '../../../core/io.ts'
import { sessionNamed, sessionTree, title, treeTitle } from '../../session-lookup.ts'
import { fileStore } from '../../../store/files/file-store.ts'
import { choose, goingOn } from '../shared/choice.ts'
import { withIndex } from '../shared/session-index.ts'

/** How many sessions a card offers; older ones are opened by their id. */
const most = 20

export function sessionCommands(controls: DeskControls): Command[] {
  return [
    {
      name: 'reset',
      screen: true,
      words: '[name]',
      help: 'Start a new session; the old one is kept.',
      matters: true,
      async run(args, { say }) {
        const before = controls.app().session.id
        const name = args.trim()
        await controls.open({ fresh: true, ...(name === '' ? {} : { name }) })
        say(
          `A new session${name === '' ? '' : ` "${name}"`} began. To return to the old one: /resume ${before}`,
          'note',
        )
      },
    },
    {
      name: 'sessions',
      screen: true,
      help: 'List, search, open, rename, fork, export and delete the sessions.',
      matters: true,
      run: (_args, world) => browse(controls, world),
    },
    {
      name: 'resume',
      screen: true,
      words: '[id|name]',
      help: 'Resume a session of this project.',
      complete: async (typed) =>
        goingOn(
          typed,
          (await listed(controls)).flatMap(({ id, name }) => (name === undefined ? [id] : [name, id])),
        ),
      async run(args, world) {
        if (args.trim() === '') return browse(controls, world)
        const session = await withIndex(controls, (index, project) =>
          sessionNamed({ index, of: { project } }, args.trim()),
        )
        if (session.project !== controls.app().project.slug)
          throw new UsageError(
            `that session belongs to ${session.path ?? 'another project'}. Start termaite there to resume it.`,
          )
        await goOn(controls, session, world)
      },
    },
  ]
}

/** Shows the sessions as a list with keys; a screen without lists asks which one to resume. */
async function browse(controls: DeskControls, world: CommandWorld): Promise<void> {
  if (!world.screen.list) return pick(controls, world)
  const { showSessions } = await import('./session-list.ts')
  const next = await showSessions(controls, world)
  if (next?.act === 'open') await goOn(controls, next.session, world)
  if (next?.act === 'fork') await fork(controls, next.session, world)
}

async function fork(controls: DeskControls, session: Session, world: CommandWorld): Promise<void> {
  // An imported session is copied when it is continued.
  if (session.cli !== undefined) return goOn(controls, session, world)
  if (session.id !== controls.app().session.id) await controls.open({ id: session.id })
  await controls.open({ until: await controls.app().project.log.end() })
  world.say(
    `A new session began with the turns of ${title(session)}. To return to that one: /resume ${session.id}`,
    'note',
  )
}

async function pick(controls: DeskControls, world: CommandWorld): Promise<void> {
  const here = controls.app().session.id
  const { sessions } = await controls.app().project.doc.read()
  const others = sessionTree(await listed(controls), sessions).filter(({ session }) => session.id !== here)
  if (others.length === 0) return world.say('There is no other session in this project.', 'note')
  const more =
    others.length > most
      ? ` For ${others.length - most} older ones, type /resume and an id that termaite sessions lists.`
      : ''
  const id = await choose(
    world,
    `Which session do you want to resume?${more}`,
    others.slice(0, most).map(asOption(controls)),
  )
  const session = others.find((one) => one.session.id === id)?.session
  if (session) await goOn(controls, session, world)
}

async function goOn(controls: DeskControls, session: Session, { say }: CommandWorld): Promise<void> {
  if (session.id === controls.app().session.id) return say('You are already in that session.', 'note')
  await controls.open({ id: session.cli === undefined ? session.id : await takenOver(controls, session, session.cli) })
  say(`Resumed ${title(session)}.`, 'note')
}

/** Creates a session of ours from an imported one. Returns its id. */
async function takenOver(controls: DeskControls, session: Session, cli: string): Promise<string> {
  const { agentOfCli, continueImported } = await import('../../../people/import/continued-session.ts')
  const { io, project, settings, place } = controls.app()
  const store = fileStore(place.home, voiceOf(io))
  return withIndex(controls, (index) =>
    continueImported({ project, store, index, clock: io.clock }, session, agentOfCli(settings.agents, cli) ?? cli),
  )
}

const asOption = (controls: DeskControls) => (node: SessionNode) => ({
  id: node.session.id,
  label: `${relativeTime(controls.app().io.clock.now(), node.session.last)} · ${node.session.turns} ${node.session.turns === 1 ? 'turn' : 'turns'} · ${treeTitle(node)}`,
})

const listed = (controls: DeskControls) => withIndex(controls, (index, project) => index.sessions({ project }))
