import type { Command } from '../../../core/talk/command.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { UsageError } from '../../../core/io.ts'
import { codeBlocksIn } from '../shared/code-block.ts'

export function copyCommand(controls: DeskControls): Command {
  return {
    name: 'copy',
    screen: true,
    words: '[n]',
    help: 'Copy the last answer, or its n-th code block.',
    async run(args, { say, screen }) {
      const answer = await controls.lastAnswer()
      if (answer === undefined) throw new UsageError('there is no answer to copy yet.')
      say(await screen.copy(args.trim() === '' ? answer : blockAt(answer, args.trim())), 'note')
    },
  }
}

function blockAt(answer: string, typed: string): string {
  const blocks = codeBlocksIn(answer)
  const found = /^\d+$/.test(typed) ? blocks[Number(typed) - 1] : undefined
  if (found !== undefined) return found
  throw new UsageError(
    blocks.length === 0
      ? 'the last answer has no code block.'
      : `the last answer has ${blocks.length} code ${blocks.length === 1 ? 'block' : 'blocks'}, but found "${typed}".`,
  )
}
