import type { Tool } from '../core/work/tool.ts'
import type { TodoList } from './todo/list.ts'
import { made } from './made.ts'
import { parser } from '../core/work/shape.ts'
import { told } from './todo/list.ts'

export function todoRead(todos: TodoList): Tool {
  return made('todo_read', 'read', parser({}), async (_input, { cwd }) => told(await todos.read(cwd)))
}
