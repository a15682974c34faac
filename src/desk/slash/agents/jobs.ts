import type { Command } from '../../../core/talk/command.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { oneLine } from '../../../base/text/table.ts'
import { UsageError } from '../../../core/io.ts'
import { choose } from '../shared/choice.ts'
import { block } from '../shared/code-block.ts'

/** The commands for background jobs: send one there, list them, stop one. */
export function jobCommands(controls: DeskControls): Command[] {
  return [
    {
      name: 'background',
      help: 'Send the running command to the background, like Ctrl+B.',
      async run(args, world) {
        if (args.trim() !== '') throw new UsageError('/background takes no arguments: it means the command that runs.')
        if (!controls.moveToBackground()) world.say('No running command can go to the background.', 'note')
      },
    },
    {
      name: 'jobs',
      words: '[end]',
      help: 'List the commands in the background; end one of them.',
      async run(args, world) {
        const wish = args.trim()
        if (wish !== '' && wish !== 'end')
          throw new UsageError('/jobs takes no arguments, or the word end, which asks for the command to end.')
        const all = [...controls.jobs()].flatMap(([owner, jobs]) => jobs.listed.map((one) => ({ owner, jobs, ...one })))
        if (all.length === 0) return world.say('No command is in the background.', 'note')
        if (wish === '') {
          const owned = (owner: string) => (owner === 'you' ? 'yours' : `of ${owner}`)
          return world.say(block(all.map(({ owner, line }) => `${owned(owner)}, job ${line}`).join('\n')), 'text')
        }
        const running = all.filter(({ runs }) => runs)
        if (running.length === 0) return world.say('No command in the background runs any more.', 'note')
        const options = running.map(({ owner, line }, at) => ({
          id: String(at),
          label: oneLine(`${owner === 'you' ? 'your' : `${owner}’s`} job ${line}`, 100),
        }))
        const picked = await choose(world, 'Which command do you want to end?', options, [], 'end nothing')
        const chosen = running[Number(picked)]
        if (!chosen) return world.say('Nothing was stopped.', 'note')
        world.say(await chosen.jobs.end(chosen.job), 'note')
      },
    },
  ]
}
