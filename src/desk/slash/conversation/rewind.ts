import type { Command, CommandWorld } from '../../../core/talk/command.ts'
import type { AppRecords } from '../../../turn/app.ts'
import type { DeskControls } from '../../desk-controls.ts'
import type { PlacedPrompt } from '../../history-pages.ts'
import { localTime } from '../../../base/time/local-time.ts'
import { oneLine } from '../../../base/text/table.ts'
import { UsageError } from '../../../core/io.ts'
import { wholeEntry } from '../../../core/talk/body.ts'
import { consentOptions } from '../../../core/talk/consent.ts'
import { typedPrompt } from '../../../core/talk/file-references.ts'
import { withPictures } from '../../../core/talk/pictures.ts'
import { asideWords, leftWords, orUsage, refuseWhileRunning, turnsBesideUndo, undoTurn } from '../../../turn/undo.ts'
import { SnapshotsOff } from '../../../safety/snapshots/snapshots.ts'
import { choose } from '../shared/choice.ts'
import { keeping } from '../shared/session-index.ts'

/** How many prompts a card offers. */
const most = 20

/** How many changed files a card names. */
const mostFiles = 12

/** The files that were changed by the turns from a prompt on, and those turns, newest first. */
type Changes = { turns: string[]; files: string[] }

export function rewindCommand(controls: DeskControls): Command {
  return {
    name: 'rewind',
    screen: true,
    help: 'Go back to before an earlier prompt; nothing is lost.',
    matters: true,
    async run(_args, world) {
      const app = keeping(controls)
      const prompts = await controls.prompts(most)
      if (prompts.length === 0) return world.say('There is no earlier prompt in this session.', 'note')
      const chosen = await choosePrompt(prompts, world)
      if (!chosen) return world.say('Nothing was changed.', 'note')
      const changes = await changesSince(app, chosen)
      const parts = await chooseParts(chosen, changes, world)
      if (!parts) return world.say('Nothing was changed.', 'note')
      const said = parts === 'talk' ? [] : await bringFilesBack(app, changes)
      if (parts !== 'files') said.push(await leaveConversation(controls, app, chosen, world))
      world.say(said.join('\n'), 'note')
    },
  }
}

// The answer stays in the conversation, and a relative time would soon be wrong.
async function choosePrompt(prompts: readonly PlacedPrompt[], world: CommandWorld): Promise<PlacedPrompt | undefined> {
  const options = prompts.map(({ entry }) => ({
    id: entry.id,
    label: `${localTime(entry.at)} · ${oneLine(typedPrompt(entry.text), 60)}`,
  }))
  const id = await choose(world, 'To before which prompt do you want to go back?', options)
  return prompts.find(({ entry }) => entry.id === id)
}

/** The recorded turns that began with the chosen prompt or later, in any session, because all sessions share the files. */
async function changesSince({ snapshots }: AppRecords, { entry }: PlacedPrompt): Promise<Changes> {
  try {
    const records = await snapshots.list()
    const undone = new Set(records.flatMap(({ undoes }) => undoes ?? []))
    // Ids sort by time.
    const later = records.filter(({ turn, undoes }) => turn >= entry.turn && undoes === undefined && !undone.has(turn))
    const turns: string[] = []
    const files = new Set<string>()
    for (const { turn } of later.reverse()) {
      const stat = await snapshots.stat(turn)
      if (stat.length > 0) turns.push(turn)
      for (const { file } of stat) files.add(file)
    }
    return { turns, files: [...files].sort() }
  } catch (error) {
    if (error instanceof SnapshotsOff) return { turns: [], files: [] }
    throw error
  }
}

async function chooseParts({ entry }: PlacedPrompt, { turns, files }: Changes, world: CommandWorld) {
  const named = files.slice(0, mostFiles).map((file) => `  ${file}`)
  const rest = files.length > mostFiles ? [`  and ${files.length - mostFiles} more`] : []
  const changed = [
    `The turns since then changed ${files.length === 1 ? 'this file' : 'these files'}:`,
    ...named,
    ...rest,
  ]
  const back = `“${oneLine(typedPrompt(entry.text), 60)}”`
  const no = { id: 'leave' as const, label: 'No, change nothing' }
  if (turns.length === 0)
    return choose(
      world,
      `Go back to before ${back}? The conversation as it is now is kept.`,
      consentOptions({ once: { id: 'talk' as const, label: 'Yes, in a fork of the conversation' }, no }),
      [{ type: 'text', text: 'No file was changed since then that termaite could bring back.' }],
    ).then((picked) => (picked === 'leave' ? undefined : picked))
  const picked = await choose(
    world,
    `What goes back to before ${back}? Nothing is removed: the conversation as it is now is kept, and the files can be brought forward again.`,
    consentOptions({
      once: { id: 'both' as const, label: 'The conversation and the files' },
      no,
      others: [
        { id: 'talk' as const, label: 'Only the conversation' },
        { id: 'files' as const, label: 'Only the files' },
      ],
    }),
    [{ type: 'text', text: changed.join('\n') }],
  )
  return picked === 'leave' ? undefined : picked
}

/** Undoes the turns one after another, newest first, so that each finds the files as it left them. */
async function bringFilesBack(
  { snapshots, project, io, conversation }: AppRecords,
  { turns }: Changes,
): Promise<string[]> {
  const records = await orUsage(snapshots.list())
  for (const turn of turns) {
    const record = records.find((one) => one.turn === turn)
    if (record) refuseWhileRunning(await turnsBesideUndo(project, record, io.clock.now()), record, undefined)
  }
  const words: string[] = []
  const undos: string[] = []
  for (const turn of turns) {
    const plan = await orUsage(snapshots.planUndo(turn))
    words.push(...leftWords(plan.left))
    if (plan.steps.length === 0) continue
    const undone = await undoTurn({ snapshots, conversation }, plan)
    undos.push(undone.turn)
    words.push(...leftWords(undone.left), ...asideWords(undone))
  }
  if (undos.length === 0) return [...words, 'The files are as they were before that prompt already.']
  const again = undos.reverse().map((turn) => `/undo ${turn}`)
  return [...words, `The files went back. To bring them forward again: ${again.join(', then ')}`]
}

/** Opens a fork that ends before the prompt, with the prompt in the input. */
async function leaveConversation(
  controls: DeskControls,
  { session, blobs }: AppRecords,
  { place, entry }: PlacedPrompt,
  { screen }: CommandWorld,
): Promise<string> {
  const whole = await wholeEntry(entry, blobs)
  if (whole.type !== 'prompt') throw new UsageError('that prompt can no longer be read.')
  await controls.open({ until: place })
  screen.fill(withPictures(typedPrompt(whole.text), whole.files))
  return `The conversation went back, in a fork; agents with a memory of their own start over. The whole conversation is kept: /resume ${session.id}`
}
