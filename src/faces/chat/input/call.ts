/** What the words before the cursor call for; `from` is the column from which a completion takes their place. */
export type Call =
  | { type: 'command'; typed: string; from: number }
  | { type: 'words'; command: string; typed: string; from: number }
  | { type: 'file'; typed: string; from: number }

const command = /^\s*(\/[^\s/]*)$/
const words = /^\s*\/([^\s/]+)\s+(.*)$/
/** At the beginning of a word: an e-mail address has its @ in the middle of one. */
const file = /(?:^|[\s([{<,;'"`])(@(?:"([^"]*)|([^\s"]*)))$/

/** `before` is the line up to the cursor; only the first line can begin a command. */
export function callAt(before: string, first: boolean): Call | undefined {
  const at = file.exec(before)
  if (at) return { type: 'file', typed: at[2] ?? at[3] ?? '', from: before.length - at[1]!.length }
  if (!first) return undefined
  const slash = command.exec(before)
  if (slash) return { type: 'command', typed: slash[1]!.slice(1), from: before.length - slash[1]!.length }
  const follows = words.exec(before)
  if (!follows) return undefined
  return { type: 'words', command: follows[1]!, typed: follows[2]!, from: before.length - follows[2]!.length }
}

/** The command that a text begins with; a path that begins with a slash has another one in it. */
export function commandOf(text: string): string | undefined {
  return /^\/([^\s/]*)(?:\s|$)/.exec(text)?.[1]
}

/** A path as it is written after an @; one that ends in a slash is open for what is below it. */
export function written(path: string): string {
  const open = path.endsWith('/')
  if (!/[\s"]/.test(path)) return open ? `@${path}` : `@${path} `
  return open ? `@"${path}` : `@"${path}" `
}
