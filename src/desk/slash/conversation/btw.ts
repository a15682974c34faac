import type { Command } from '../../../core/talk/command.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { oneLine } from '../../../base/text/table.ts'
import { UsageError } from '../../../core/io.ts'
import { tokens } from '../../../chat/style/numbers.ts'
import { SpentInView } from '../../desk-status.ts'

/** A question beside the work: it waits for no turn, and neither it nor its answer enters the conversation. */
export function btwCommand(controls: DeskControls): Command {
  return {
    name: 'btw',
    beside: true,
    words: '<question>',
    help: 'Ask something aside; neither question nor answer is kept.',
    async run(args, { say, ask, signal }) {
      const question = args.trim()
      if (question === '')
        throw new UsageError('type the question after it, for example: /btw what does src/add.ts do?')
      say(`Asked aside: ${oneLine(question, 200)}`, 'note')
      const { askAside } = await import('../../../app/side-question.ts')
      const answer = await askAside(controls.app(), { question, ask, signal, say: (words) => say(words, 'note') })
      const spent = new SpentInView()
      for (const usage of answer.used) {
        spent.see(usage)
        controls.spend(usage)
      }
      if (signal.aborted) return say('The side question was cancelled.', 'note')
      if (answer.failure) return say(`The side question has no answer: ${answer.failure.message}`, 'error')
      const cost = spent.total ? [tokens(spent.total.used, spent.total.source)] : []
      const foot = [answer.by, ...cost, 'not kept'].join(' · ')
      say([`aside: ${oneLine(question, 200)}`, answer.text.trim(), '', foot].join('\n'), 'aside')
    },
  }
}
