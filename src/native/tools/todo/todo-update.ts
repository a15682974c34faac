import type { Tool } from '../../../core/work/tool.ts'
import type { TodoList } from './todo-list.ts'
import { todoResult } from './todo-list.ts'
import { nearest } from '../../../base/text/nearest.ts'
import { defineTool } from '../shared/tool-definition.ts'
import { todoItems } from './todo-write.ts'

export function todoUpdate(todos: TodoList): Tool {
  return defineTool({
    name: 'todo_update',
    risk: 'read',
    input: todoItems,
    leadOnly: true,
    worksAlone: true,
    effect: () => ({ does: 'nothing' }),
    async run({ items }, { cwd }) {
      const status = new Map(items.map((item) => [item.task, item.status]))
      let missing: string[] = []
      let known: string[] = []
      const now = await todos.change(cwd, (old) => {
        known = old.map(({ task }) => task)
        missing = [...status.keys()].filter((task) => !known.includes(task))
        return old.map((item) => ({ task: item.task, status: status.get(item.task) ?? item.status }))
      })
      const notes = missing.map((task) => {
        const near = nearest(task, known)
        return `No task reads exactly "${task}".${near ? ` Did you mean "${near}"?` : ' Add it with todo_write.'}`
      })
      if (missing.length === status.size) throw new Error(`${notes.join('\n')}\n${todoResult(now).text}`)
      return todoResult(now, notes.join('\n'))
    },
  })
}
