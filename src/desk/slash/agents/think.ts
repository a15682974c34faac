import type { Command } from '../../../core/talk/command.ts'
import type { Thinking } from '../../../core/talk/framework.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { frameworks, thinkings } from '../../../core/talk/framework.ts'
import { lastUnfinished } from '../../../think/decompose/saved-trees.ts'
import { UsageError } from '../../../core/io.ts'
import { defaultThinking } from '../../../think/turn/thinking-choice.ts'
import { treesOf } from '../../../think/turn/task-trees.ts'
import { runTurn } from '../../../app/turn.ts'
import { choose, goingOn, knownWord } from '../shared/choice.ts'

const meanings: Record<Thinking, string> = {
  auto: 'termaite chooses for each request, and the agent can ask for advice itself',
  off: 'requests go straight to one agent',
  ...frameworks,
}

export function thinkCommand(controls: DeskControls): Command {
  return {
    name: 'think',
    words: '[how|resume] [request]',
    help: 'Choose how agents think a request through before they act.',
    matters: true,
    complete: (typed) => goingOn(typed, [...thinkings, 'resume']),
    async run(args, world) {
      const [, word = '', request = ''] = /^(\S*)\s*([^]*)$/.exec(args.trim()) ?? []
      if (word === 'resume') return resumed(controls, request)
      const now = defaultThinking(controls.app(), { aimed: false, chat: true })
      const options = thinkings.map((id) => ({ id, label: `${id}: ${meanings[id]}` }))
      const how =
        word === ''
          ? await choose(world, `Which thinking framework? Now: ${now}.`, options)
          : knownWord('thinking framework', word, thinkings)
      if (how === undefined) return
      if (request !== '') return controls.begin(request, (app, wishes) => runTurn(app, { ...wishes, think: how }))
      await controls.setThinking(how)
      world.say(`Thinking in this project is now ${how}: ${meanings[how]}.`, 'note')
    },
  }
}

/** Continues the most recent unfinished task tree. */
async function resumed(controls: DeskControls, request: string): Promise<void> {
  const left = await lastUnfinished(treesOf(controls.app()))
  if (!left) throw new UsageError('this project has no unfinished task tree to continue.')
  await controls.begin(request || left.prompt, (app, wishes) => runTurn(app, { ...wishes, think: 'resume' }))
}
