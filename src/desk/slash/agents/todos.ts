import type { Command } from '../../../core/talk/command.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { messageOf } from '../../../base/error-message.ts'
import { todoResult, todoFile, TodoList } from '../../../native/tools/todo/todo-list.ts'
import { UsageError } from '../../../core/io.ts'
import { block } from '../shared/code-block.ts'

export function todosCommand(controls: DeskControls): Command {
  return {
    name: 'todos',
    help: 'Show the agent’s task list.',
    async run(args, { say }) {
      if (args.trim() !== '') throw new UsageError('/todos takes no arguments. To change the tasks, ask the agent.')
      const items = await new TodoList().read(controls.app().place.cwd).catch((error) => {
        // The second half of the message is meant for the model.
        throw new UsageError(`${messageOf(error).split('. ')[0]!.replace(/\.$/, '')}; repair or delete ${todoFile}.`)
      })
      if (items.length === 0) say('There are no tasks.', 'note')
      else say(block(todoResult(items).text), 'text')
    },
  }
}
