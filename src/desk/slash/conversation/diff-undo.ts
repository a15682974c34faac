import type { Command, CommandWorld } from '../../../core/talk/command.ts'
import type { App, AppRecords } from '../../../turn/app.ts'
import type { DeskControls } from '../../desk-controls.ts'
import type { UndoPlan } from '../../../safety/snapshots/snapshots.ts'
import { lastUndoable } from '../../../safety/snapshots/snapshots.ts'
import {
  orUsage,
  statText,
  snapshotTurn,
  asideWords,
  turnsBesideUndo,
  leftWords,
  planWords,
  refuseWhileRunning,
  redoPlan,
  undoPlan,
  undoTurn,
  wayBack,
  uncopiedWords,
} from '../../../turn/undo.ts'
import { oneLine } from '../../../base/text/table.ts'
import { block } from '../shared/code-block.ts'
import { choose } from '../shared/choice.ts'
import { keeping } from '../shared/session-index.ts'
import { consentOptions } from '../../../core/talk/consent.ts'

/** The longest patch that is shown in the chat. */
const mostLines = 1_000

/** The /diff, /undo and /redo commands. */
export function changeCommands(controls: DeskControls): Command[] {
  /** An undo that is at work: a /redo that is typed at once plans after it, because before it there is nothing to redo. */
  let atWork: Promise<unknown> = Promise.resolve()
  const takenBack = (how: 'undo' | 'redo') => async (args: string, world: CommandWorld) => {
    await atWork
    const plan = await planned(keeping(controls), args.trim() || undefined, world, how)
    if (plan === undefined) return
    const work = apply(keeping(controls), plan, world, how)
    atWork = work.catch(() => {})
    await work
  }
  return [
    {
      name: 'diff',
      words: '[turn]',
      help: 'Show what a turn changed.',
      matters: true,
      run: async (args, { say }) => say(await diffText(keeping(controls), args.trim() || undefined), 'text'),
    },
    {
      name: 'undo',
      words: '[turn]',
      help: 'Undo what a turn changed; asks first.',
      matters: true,
      run: takenBack('undo'),
    },
    {
      name: 'redo',
      words: '[turn]',
      help: 'Bring back what the last undo took away; asks first.',
      matters: true,
      run: takenBack('redo'),
    },
  ]
}

async function diffText({ snapshots, project }: AppRecords, typed: string | undefined): Promise<string> {
  const turn = await snapshotTurn({ snapshots, project }, typed, (turns) => lastUndoable(turns) ?? turns.at(-1)!)
  const { patch, stat } = await orUsage(snapshots.diff(turn.turn))
  const title = `“${oneLine(turn.prompt, 60)}” (${turn.turn})`
  const uncopied = uncopiedWords(turn).map((words) => `\n${words}`)
  if (stat.length === 0) return [`${title} changed no file.`, ...uncopied].join('\n')
  const lines = patch.trimEnd().split('\n')
  const rest = lines.length - mostLines
  const more = rest > 0 ? `\n${rest} more lines: termaite diff ${turn.turn}` : ''
  return `${title}\n${block(statText(stat))}\n${block(lines.slice(0, mostLines).join('\n'), 'diff')}${more}${uncopied.join('\n')}`
}

/** Plans the undo or redo, and asks for it; undefined if there is nothing to change, or the person wants no change. */
async function planned(
  { snapshots, project, io }: App,
  typed: string | undefined,
  world: CommandWorld,
  how: 'undo' | 'redo',
): Promise<UndoPlan | undefined> {
  const plan = await (how === 'undo' ? undoPlan : redoPlan)({ snapshots, project }, typed)
  if (plan.steps.length === 0) {
    world.say([...leftWords(plan.left), ...planWords(plan)].join('\n'), 'note')
    return undefined
  }
  const beside = await turnsBesideUndo(project, plan.turn, io.clock.now())
  refuseWhileRunning(beside, plan.turn, undefined)
  const choice = await choose(
    world,
    how === 'undo' ? 'Undo this? You can redo it with /redo.' : 'Redo this?',
    consentOptions({
      once: { id: how, label: `Yes, ${how} it` },
      no: { id: 'leave', label: 'No, change nothing' },
    }),
    [{ type: 'text', text: [...planWords(plan), ...beside.words].join('\n') }],
  )
  if (choice === how) return plan
  world.say('Nothing was changed.', 'note')
  return undefined
}

async function apply(app: App, plan: UndoPlan, world: CommandWorld, how: 'undo' | 'redo'): Promise<void> {
  const undone = await undoTurn(app, plan)
  const words = [...leftWords(undone.left), ...asideWords(undone), wayBack(how, '/')]
  world.say(words.join('\n'), 'note')
}
