/** Our tools by the names that hooks are written for; their inputs have the same keys. */
const shared: Readonly<Record<string, readonly [string, ...string[]]>> = {
  bash: ['Bash'],
  file_reader: ['Read'],
  file_creator: ['Write'],
  file_editor: ['MultiEdit', 'Edit'],
  grep_search: ['Grep'],
  glob: ['Glob'],
  ls: ['LS'],
  web_fetch: ['WebFetch'],
  web_search: ['WebSearch'],
  subagent: ['Task'],
  todo_write: ['TodoWrite'],
}

const known = (tool: string) => (Object.hasOwn(shared, tool) ? shared[tool]! : [])

/** What a hook is told a tool is called. */
export const sharedName = (tool: string) => known(tool)[0] ?? tool

/** Whether a matcher means this: nothing and `*` mean all, else it is a pattern for the whole name. */
export function isMatch(matcher: string | undefined, name: string): boolean {
  if (matcher === undefined || matcher === '' || matcher === '*') return true
  const pattern = new RegExp(`^(?:${matcher})$`)
  return [name, ...known(name)].some((one) => pattern.test(one))
}
