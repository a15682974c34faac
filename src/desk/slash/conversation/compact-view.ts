import type { Command } from '../../../core/talk/command.ts'
import type { Entry } from '../../../core/talk/entry.ts'
import type { AppRecords } from '../../../turn/app.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { compactAt } from '../../../core/talk/compaction.ts'
import { viewTokens } from '../../../core/talk/tokens.ts'
import { view } from '../../../core/talk/view.ts'
import { compactedWords, compactNow } from '../../../turn/compaction.ts'
import { groupDigits } from '../../../base/text/number-words.ts'
import { enabledAgents, smallestWindow, windowOf } from '../../../settings/enabled-agents.ts'
import { table } from '../../../base/text/table.ts'
import { block } from '../shared/code-block.ts'

/** The /context_size and /compact commands. */
export function viewCommands(controls: DeskControls): Command[] {
  return [
    {
      name: 'compact',
      words: '[focus]',
      help: 'Summarise the older half now; say what to keep above all.',
      matters: true,
      async run(args, { say, signal }) {
        say('Summarising the older half of the conversation…', 'note')
        const focus = args.trim()
        const compacted = await compactNow(controls.app(), 'manual', {
          say: (words) => say(words, 'note'),
          signal,
          focus,
        })
        say(compactedWords(compacted), compacted.ok ? 'note' : 'error')
      },
    },
    {
      name: 'context_size',
      help: 'Show how full each agent’s window is.',
      run: async (_args, { say }) => say(await sizeText(controls.app()), 'text'),
    },
  ]
}

export async function sizeText({ conversation, settings }: AppRecords): Promise<string> {
  const { entries } = await conversation.read()
  const tokens = viewTokens(view(entries))
  const smallest = smallestWindow(settings)
  const rows = enabledAgents(settings).map((agent) => [
    agent.name,
    groupDigits(windowOf(agent)),
    agent.ownView ? 'the newest turns that fit' : share(tokens, windowOf(agent)),
    lastTurn(entries, agent.name),
  ])
  return [
    `The next turn gets ${groupDigits(tokens)} tokens of conversation (estimated), ${share(tokens, smallest)} of the smallest window (${groupDigits(smallest)}).`,
    `At ${share(compactAt, 1)} termaite summarises the older half; /compact does that now.`,
    '',
    block(table([['AGENT', 'WINDOW', 'FULL', 'LAST TURN'], ...rows])),
  ].join('\n')
}

/** The tokens of an agent's last turn in this view. */
function lastTurn(entries: readonly Entry[], name: string): string {
  const last = entries.findLast((entry) => entry.type === 'usage' && entry.by === name)
  if (last?.type !== 'usage') return 'not known'
  return `${groupDigits(last.input)} in, ${groupDigits(last.output)} out (${last.source})`
}

const share = (part: number, whole: number) => `${Math.round((part / whole) * 100)} %`
