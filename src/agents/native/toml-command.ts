import { parseToml } from '../../base/toml-parser.ts'
import { messageOf } from '../../base/error-message.ts'

/** A slash command in the words of ours: its description and its text. */
export type TomlCommand = { description: string; body: string }

/** Places for arguments, and commands that are run, as our own command files write them: in this format they are plain text. */
const ours = /\$(?:ARGUMENTS\b|[1-9](?!\d))|!`|^```!/m

/**
 * Reads a command in the format of Gemini CLI: TOML with a `prompt` and a `description`. `{{args}}`, `!{command}` and
 * `@{path}` become what they are in ours. A text says why the file is not used.
 */
export function tomlCommand(text: string): TomlCommand | string {
  let fields: Record<string, unknown>
  try {
    fields = parseToml(text)
  } catch (error) {
    return messageOf(error)
  }
  const { prompt, description } = fields
  if (typeof prompt !== 'string' || prompt.trim() === '') return 'it has no prompt'
  if (ours.test(prompt)) return 'its prompt holds signs that termaite would fill in or run, such as $1'
  const body = injected(prompt.trim())
  if (body === undefined) return 'a !{…} or @{…} in its prompt is not closed, or holds signs that cannot be kept'
  return {
    description: typeof description === 'string' ? description : '',
    body: body.replaceAll('{{args}}', '$ARGUMENTS'),
  }
}

/** The text with its commands and files as ours are written; brackets inside a command are counted, as Gemini CLI does. */
function injected(prompt: string): string | undefined {
  let text = ''
  for (let at = 0; at < prompt.length;) {
    const sign = prompt[at]!
    if ((sign !== '!' && sign !== '@') || prompt[at + 1] !== '{') {
      text += sign
      at++
      continue
    }
    let [end, depth] = [at + 2, 1]
    for (; end < prompt.length && depth > 0; end++) depth += { '{': 1, '}': -1 }[prompt[end]!] ?? 0
    const inside = prompt.slice(at + 2, end - 1).trim()
    if (depth > 0 || inside === '' || /[`\n"]/.test(sign === '!' ? inside.replaceAll('"', '') : inside))
      return undefined
    text += sign === '!' ? `!\`${inside}\`` : /\s/.test(inside) ? `@"${inside}"` : `@${inside}`
    at = end
  }
  return text
}
