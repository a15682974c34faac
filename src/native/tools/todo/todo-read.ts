import type { Tool } from '../../../core/work/tool.ts'
import type { TodoList } from './todo-list.ts'
import { todoResult } from './todo-list.ts'
import { defineTool } from '../shared/tool-definition.ts'
import { parser } from '../../../core/data/shape.ts'

export function todoRead(todos: TodoList): Tool {
  return defineTool({
    name: 'todo_read',
    risk: 'read',
    input: parser({}),
    leadOnly: true,
    worksAlone: true,
    effect: () => ({ does: 'nothing' }),
    run: async (_input, { cwd }) => todoResult(await todos.read(cwd)),
  })
}
