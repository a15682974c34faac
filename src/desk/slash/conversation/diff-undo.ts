import type { Command, CommandWorld } from '../../../core/talk/command.ts'
import type { App } from '../../../turn/app.ts'
import type { DeskControls } from '../../desk-controls.ts'
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
  undoPlan,
  undoTurn,
} from '../../../turn/undo.ts'
import { oneLine } from '../../../base/text/table.ts'
import { block } from '../shared/code-block.ts'
import { choose } from '../shared/choice.ts'
import { keeping } from '../shared/session-index.ts'
import { consentOptions } from '../../../core/talk/consent.ts'

/** The longest patch that is shown in the chat. */
const mostLines = 1_000

/** The /diff and /undo commands. */
export function changeCommands(controls: DeskControls): Command[] {
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
      run: async (args, world) => undo(keeping(controls), args.trim() || undefined, world),
    },
  ]
}

async function diffText({ snapshots, project }: App, typed: string | undefined): Promise<string> {
  const turn = await snapshotTurn({ snapshots, project }, typed, (turns) => lastUndoable(turns) ?? turns.at(-1)!)
  const { patch, stat } = await orUsage(snapshots.diff(turn.turn))
  const title = `“${oneLine(turn.prompt, 60)}” (${turn.turn})`
  if (stat.length === 0) return `${title} changed no file.`
  const lines = patch.trimEnd().split('\n')
  const rest = lines.length - mostLines
  const more = rest > 0 ? `\n${rest} more lines: termaite diff ${turn.turn}` : ''
  return `${title}\n${block(statText(stat))}\n${block(lines.slice(0, mostLines).join('\n'), 'diff')}${more}`
}

async function undo(app: App, typed: string | undefined, world: CommandWorld): Promise<void> {
  const { snapshots, project, io } = app
  const plan = await undoPlan({ snapshots, project }, typed)
  if (plan.steps.length === 0) return world.say([...leftWords(plan.left), ...planWords(plan)].join('\n'), 'note')
  const beside = await turnsBesideUndo(project, plan.turn, io.clock.now())
  refuseWhileRunning(beside, plan.turn, undefined)
  const choice = await choose(
    world,
    'Undo this? You can redo it.',
    consentOptions({
      once: { id: 'undo', label: 'Yes, undo it' },
      no: { id: 'leave', label: 'No, change nothing' },
    }),
    [{ type: 'text', text: [...planWords(plan), ...beside.words].join('\n') }],
  )
  if (choice !== 'undo') return world.say('Nothing was changed.', 'note')
  const undone = await undoTurn(app, plan)
  const words = [...leftWords(undone.left), ...asideWords(undone), `Done. To redo the changes: /undo ${undone.turn}`]
  world.say(words.join('\n'), 'note')
}
