import type { Command } from '../../../core/talk/command.ts'
import type { Entry } from '../../../core/talk/entry.ts'
import type { Log } from '../../../core/talk/store.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { localTime } from '../../../base/time/local-time.ts'
import { isEntry, isPersonCommand } from '../../../core/talk/entry.ts'
import { UsageError } from '../../../core/io.ts'
import { oneLine } from '../../../base/text/table.ts'
import { block } from '../shared/code-block.ts'

const usual = 5

export function historyCommand(controls: DeskControls): Command {
  return {
    name: 'history',
    words: '[n]',
    help: `Show the last ${usual} turns in brief, or the last n.`,
    async run(args, { say }) {
      const count = args.trim() === '' ? usual : Number(args)
      if (!Number.isSafeInteger(count) || count < 1)
        throw new UsageError(`/history takes a number of turns, as in /history 5, but found "${args.trim()}".`)
      const { project, session } = controls.app()
      const turns = await newestTurns(project.log, session.id, count)
      if (turns.length === 0) say('This session has no turns yet.', 'note')
      else say(block(turns.map(short).join('\n\n')), 'text')
    },
  }
}

/** The newest turns of a session, oldest first. The log is read from its end, so a long history costs nothing. */
async function newestTurns(log: Log<Entry>, session: string, most: number): Promise<Entry[][]> {
  const turns = new Map<string, Entry[]>()
  const begun: Entry[][] = []
  for await (const { item } of log.back()) {
    if (!isEntry(item) || item.session !== session || item.turn === '') continue
    const entries = turns.get(item.turn) ?? []
    turns.set(item.turn, entries)
    entries.unshift(item)
    if (item.type === 'prompt' && begun.unshift(entries) === most) break
  }
  return begun
}

function short(entries: Entry[]): string {
  const [asked] = entries
  const prompt = asked?.type === 'prompt' ? asked.text : ''
  return `${localTime(asked!.at)} you: ${oneLine(prompt, 100)}\n  ${answer(entries)}`
}

function answer(entries: Entry[]): string {
  const end = entries.findLast((entry) => entry.type === 'end')
  const reply = entries.findLast((entry) => entry.type === 'reply')
  const output = entries.findLast((entry) => entry.type === 'result' && isPersonCommand(entry))
  if (output?.type === 'result') return `output: ${oneLine(output.text, 200)}`
  if (end?.type !== 'end') return 'still running'
  if (!end.outcome.ok) {
    const { kind, message } = end.outcome.failure
    return oneLine(kind === 'unfinished' ? message : `no answer: ${message}`, 200)
  }
  const text = end.outcome.text || (reply?.type === 'reply' ? reply.text : '')
  return `${reply?.by ?? end.by}: ${oneLine(text, 200)}`
}
