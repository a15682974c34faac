import type { Command } from '../../../core/talk/command.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { recordThumb } from '../../../turn/judgements.ts'
import { thumbWords } from '../../../core/talk/judgement.ts'
import { keeping } from '../shared/session-index.ts'

/** The /good and /bad commands: the person's own judgement of the last turn, which overrides every other. */
export function thumbCommands(controls: DeskControls): Command[] {
  const judge = (good: boolean): Command['run'] => {
    return async (args, { say }) => {
      const why = args.trim() || undefined
      const last = await recordThumb(keeping(controls).conversation, good, args)
      say(thumbWords({ good, why }, last), 'note')
    }
  }
  return [
    {
      name: 'good',
      words: '[why]',
      help: 'Call the last answer good; /usage and the strategy “measured” count it.',
      run: judge(true),
    },
    {
      name: 'bad',
      words: '[why]',
      help: 'Call the last answer bad; /usage and the strategy “measured” count it.',
      run: judge(false),
    },
  ]
}
