import type { Tool } from '../../../core/work/tool.ts'
import type { TodoList } from './todo-list.ts'
import { todoResult } from './todo-list.ts'
import { defineTool } from '../shared/tool-definition.ts'
import { list, object, oneOf, parser, string } from '../../../core/data/shape.ts'

const item = object({ task: string({ min: 1 }), status: oneOf('pending', 'in_progress', 'completed') })
export const todoItems = parser({ items: list(item, 1) })

/** Adds tasks; a task that is already on the list keeps its status. */
export function todoWrite(todos: TodoList): Tool {
  return defineTool({
    name: 'todo_write',
    risk: 'read',
    input: todoItems,
    aliases: { hooks: ['TodoWrite'] },
    leadOnly: true,
    worksAlone: true,
    effect: () => ({ does: 'nothing' }),
    async run({ items }, { cwd }) {
      const now = await todos.change(cwd, (old) => {
        const known = new Set(old.map(({ task }) => task))
        return [...old, ...items.filter(({ task }) => !known.has(task) && known.add(task))]
      })
      return todoResult(now)
    },
  })
}
