import type { Command, CommandWorld } from '../../../core/talk/command.ts'
import type { Question } from '../../../core/talk/question.ts'
import type { MemoryFile, MemoryOwner } from '../../../app/memory/memory-file.ts'
import type { AgreedNote } from '../../../app/memory/memory-turn.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { memoryFile, noteText, unreadWords, withNote } from '../../../app/memory/memory-file.ts'
import { addNote, ChangedMeanwhile, runMemory, undoWords } from '../../../app/memory/memory-turn.ts'
import { defined } from '../../../base/defined.ts'
import { messageOf } from '../../../base/error-message.ts'
import { consentOptions } from '../../../core/talk/consent.ts'
import { UsageError } from '../../../core/io.ts'
import { profileOf } from '../../../settings/agent-settings.ts'
import { enabledAgents } from '../../../settings/enabled-agents.ts'

/** Adds a note to the instructions that agents read, after the person has seen the change. */
export function rememberCommand(controls: DeskControls): Command {
  return {
    name: 'remember',
    words: '<note>',
    help: 'Add a note to AGENTS.md, or begin the input with #; asks first.',
    async run(args, world) {
      // The chat passes on a line that begins with # exactly as it was typed.
      const typed = args.startsWith('#')
      const note = noteText(args.replace(/^#\s*/, ''))
      if (note === '')
        throw new UsageError('the note is missing. Type it after the command: /remember run the tests with npm test')
      let owner: MemoryOwner = 'project'
      for (;;) {
        const shown = memoryFile(owner, controls.app().place)
        const pick = (await world.ask(question({ owner, shown, note }, typed, controls), world.signal))?.[0]
        if (pick === 'other') owner = owner === 'project' ? 'own' : 'project'
        else if (pick === 'edit') return world.screen.fill(typed ? `#${note}` : `/remember ${note}`)
        else if (pick === 'send') return controls.send(`#${note}`)
        else if (pick !== 'write') return world.say('Nothing was written.', 'note')
        else if (await written(controls, { owner, shown, note }, world)) return
      }
    },
  }
}

/** Writes the note. Returns false if the file has changed since the person saw it, and they must look at it again. */
async function written(controls: DeskControls, agreed: AgreedNote, world: CommandWorld): Promise<boolean> {
  const now = memoryFile(agreed.owner, controls.app().place)
  try {
    if (now.text !== agreed.shown.text) throw new ChangedMeanwhile(`${agreed.shown.name} has changed meanwhile`)
    // A file outside the project is in no snapshot, so a turn for it could not be undone.
    if (agreed.owner === 'own') return direct(controls, agreed, world)
    await controls.begin(`#${agreed.note}`, runMemory(agreed))
    return true
  } catch (error) {
    // While another turn runs, the note gets no turn of its own and is written directly.
    if (error instanceof UsageError) return direct(controls, agreed, world)
    if (!(error instanceof ChangedMeanwhile)) throw error
    world.say(`${messageOf(error)}, so nothing was written. Look at the change again.`, 'error')
    return false
  }
}

function direct(controls: DeskControls, agreed: AgreedNote, world: CommandWorld): true {
  addNote(controls.app(), agreed)
  controls.app().native.state.session.remembered = true
  const later = agreed.owner === 'project' ? 'To take it back, edit the file or use git.' : undoWords(agreed)
  world.say(`Added to ${agreed.shown.name}: ${agreed.note}\n${later}`, 'note')
  return true
}

function question({ owner, shown, note }: AgreedNote, typed: boolean, controls: DeskControls): Question {
  const { name, text } = shown
  return {
    about: 'permission',
    text: [
      `Add this note to ${name}${text === undefined ? ', a new file' : ''}?`,
      ...readerWords(owner, shown, controls),
    ].join('\n'),
    from: [],
    shows: [
      defined({
        type: 'diff' as const,
        path: owner === 'project' ? name : shown.path,
        before: text,
        after: withNote(shown, note),
      }),
    ],
    options: consentOptions({
      once: { id: 'write', label: 'Yes, add it' },
      no: { id: 'no', label: 'No, write nothing' },
      others: [
        { id: 'edit', label: 'Change the words first' },
        owner === 'project'
          ? { id: 'other', label: 'Add it to your own TERMAITE.md instead, for all projects' }
          : { id: 'other', label: 'Add it to the instructions of this project instead' },
        ...(typed ? [{ id: 'send', label: 'It is not a note: send it as a prompt' }] : []),
      ],
    }),
  }
}

/** Says which agents read the file. */
function readerWords(owner: MemoryOwner, shown: MemoryFile, controls: DeskControls): string[] {
  if (owner === 'own') return ['Only termaite’s own agent reads this file, in every project.']
  const { settings, place } = controls.app()
  const readers = enabledAgents(settings).map((agent) => ({
    name: agent.name,
    ...defined({ profile: profileOf(agent) }),
  }))
  const why =
    shown.name === 'AGENTS.md'
      ? 'Agents read it when they begin to work here.'
      : `This project has ${shown.name} and no AGENTS.md, so the note goes there.`
  return [why, ...unreadWords(shown, place.root, readers)]
}
