import type { Command } from '../../../core/talk/command.ts'
import type { EntryOf } from '../../../core/talk/entry.ts'
import type { DeskControls } from '../../desk-controls.ts'
import type { ReviewWish } from '../../../race/review/review-turn.ts'
import { projectGit } from '../../../base/git/project-git.ts'
import { UsageError } from '../../../core/io.ts'
import { atDesk, enabledAgents, noAgentWords } from '../../../settings/enabled-agents.ts'
import { goingOn, knownWord } from '../shared/choice.ts'

/** The /review command: has changes reviewed, and has findings fixed. */
export function reviewCommand(controls: DeskControls): Command {
  const names = () => enabledAgents(controls.app().settings).map(({ name }) => name)
  return {
    name: 'review',
    words: '[range] [-a agent] [-- focus] | fix [numbers]',
    help: 'Let an agent review changes; it changes nothing.',
    matters: true,
    async complete(typed) {
      const [, before, agent] = /^(.*-a\s+)(\S*)$/.exec(typed) ?? []
      if (before !== undefined) return goingOn(agent!, names()).map((name) => `${before}${name}`)
      const { branchNames } = await import('../../../race/review/review-scope.ts')
      const { io, place } = controls.app()
      return goingOn(typed, ['fix all', '-a ', ...(await branchNames(projectGit(io.env), place.root))])
    },
    async run(args, { say }) {
      const app = controls.app()
      const [, numbers] = /^fix\b\s*([^]*)$/.exec(args.trim()) ?? []
      if (numbers !== undefined) {
        const { fixPrompt, pickedFindings } = await import('../../../race/review/findings.ts')
        const { entries } = await app.conversation.read()
        const review = entries.findLast((entry): entry is EntryOf<'review'> => entry.type === 'review')
        if (!review) throw new UsageError('nothing was reviewed in this session yet. Type /review first.')
        if (review.findings.length === 0) return say('The last review found nothing to fix.', 'note')
        return controls.send(fixPrompt(review, pickedFindings(numbers, review)))
      }
      if (enabledAgents(app.settings).length === 0) throw new UsageError(noAgentWords(app.settings, atDesk))
      const { openReview, reviewPrompt, runReview } = await import('../../../race/review/review-turn.ts')
      const review = await openReview(app, wishIn(args, names()))
      if ('nothing' in review) return say(review.nothing, 'note')
      await controls.begin(reviewPrompt(review.wish), (on, request) => runReview(on, request, review))
    },
  }
}

/** Reads `[range] [-a agent] [-- focus]`. */
function wishIn(args: string, names: readonly string[]): ReviewWish {
  const [, line = '', focus] = /^([^]*?)(?:(?:^|\s)--\s+([^]+))?$/.exec(args.trim()) ?? []
  const words = line.split(/\s+/).filter((word) => word !== '')
  const at = words.findIndex((word) => word === '-a' || word === '--agent')
  const [, agent] = at < 0 ? [] : words.splice(at, 2)
  if (at >= 0 && agent === undefined) throw new UsageError('name the agent after -a, for example: /review -a codex')
  if (words.length > 1)
    throw new UsageError(
      `"${words.join(' ')}" is not a range. Name one commit, branch or range (main..HEAD), and write after -- what to look at: /review main -- the locking`,
    )
  return {
    range: words[0] ?? '',
    ...(agent === undefined || agent === 'auto' ? {} : { agent: knownWord('agent', agent, names) }),
    ...(focus === undefined ? {} : { focus: focus.trim() }),
  }
}
