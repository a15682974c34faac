import type { Command, CommandWorld } from '../../../core/talk/command.ts'
import type { AppPlace, AppRecords } from '../../../turn/app.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { forgetInIndex } from '../../../home/projects.ts'
import { eraseAllWorkers } from '../../../home/worker-crews.ts'
import { UsageError } from '../../../core/io.ts'
import { unfinishedIn } from '../../../turn/unfinished-turns.ts'
import { treesOf } from '../../../think/turn/task-trees.ts'
import { consentOptions } from '../../../core/talk/consent.ts'

/** The word that the person must type before anything is erased. */
const word = 'delete'

export function clearCommand(controls: DeskControls): Command {
  return {
    name: 'clear',
    screen: true,
    help: 'Start a new session, or erase all sessions of this project.',
    matters: true,
    async run(_args, world) {
      const choice = await asked(controls.app(), world)
      if (choice === 'new') {
        await controls.open({ fresh: true })
        world.say('A new session began. The old one is kept; /sessions lists it.', 'note')
      } else if (choice === word) {
        const app = controls.app()
        await refuseIfAtWork(app)
        await erase(app)
        await controls.open({ fresh: true })
        world.say(`The conversation of ${app.place.root} was erased for good.`, 'note')
      } else world.say('Nothing was changed.', 'note')
    },
  }
}

async function asked({ place }: AppPlace, { ask, signal }: CommandWorld): Promise<'new' | typeof word | undefined> {
  const text = [
    'Start a new session? The old one is kept.',
    `To erase every session, the search index, and diff and undo of ${place.root} for good, type: ${word}`,
  ].join('\n')
  const options = consentOptions({
    once: { id: 'new', label: 'Yes, start a new session' },
    no: { id: 'leave', label: 'No, change nothing' },
  })
  const picks = await ask({ about: 'choice', text, from: [], free: true, options }, signal)
  if (picks?.some((pick) => pick.trim().toLowerCase() === word)) return word
  return picks?.includes('new') ? 'new' : undefined
}

/** Refuses while a turn runs, because the turn would write its end into an erased history. */
async function refuseIfAtWork({ project, io }: AppRecords): Promise<void> {
  const here = (await unfinishedIn(project, io.clock.now())).find(({ pid }) => pid !== undefined)
  if (here)
    throw new UsageError(
      `nothing was erased, because a turn is running here. Stop it first: termaite stop ${here.turn}`,
    )
}

/** Also erases snapshots, because each one contains its prompt. */
async function erase(app: AppRecords): Promise<void> {
  const { project, blobs, snapshots, place, io, ephemeral } = app
  await project.log.clear()
  await blobs.clear()
  await project.doc.update(({ path, lastUsed }) => ({ path, lastUsed, sessions: {} }))
  if (ephemeral) return
  await treesOf(app).kept.update(() => [])
  eraseAllWorkers(place.home, project)
  await snapshots.clear()
  await forgetInIndex(place.home, project.slug, io.clock)
}
