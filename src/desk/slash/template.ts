import { headAndBody } from '../../base/frontmatter.ts'

/** A prompt in a file, and what its frontmatter says of it. */
export type Template = { description?: string; hint?: string; body: string }

/** Throws words that say what is wrong with it. */
export function template(text: string): Template {
  const cut = headAndBody(text)
  if (!cut) throw new Error('its frontmatter has no end')
  const { head, body } = cut
  if (body === '') throw new Error('there is no prompt in it')
  const [description, hint] = [field(head, 'description'), field(head, 'argument-hint')]
  return { ...(description ? { description } : {}), ...(hint ? { hint } : {}), body }
}

/** As it is written: the usual hint, [file] [words], is no list. */
function field(head: string, name: string): string | undefined {
  const line = head.split(/\r?\n/).find((one) => one.startsWith(`${name}:`))
  return line
    ?.slice(name.length + 1)
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
}

const word = /"([^"]*)"|'([^']*)'|(\S+)/g
const place = /\$(?:(ARGUMENTS)\b|([1-9])(?!\d))/g

/** The prompt with what was typed in its places; where it has none, what was typed follows it. */
export function filled(body: string, typed: string): string {
  const args = typed.trim()
  const words = [...args.matchAll(word)].map(([, double, single, bare]) => double ?? single ?? bare!)
  if (body.search(place) < 0) return args === '' ? body : `${body}\n\n${args}`
  return body.replaceAll(place, (_whole, all, number) => (all ? args : (words[Number(number) - 1] ?? '')))
}
