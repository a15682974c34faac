/** The bodies of the blocks between fences, whatever language they say they are in: each line is looked at once. */
export function fencedBlocks(text: string): string[] {
  const blocks: string[] = []
  let open: { ticks: number; from: number } | undefined
  let at = 0
  for (const line of text.split('\n')) {
    const fence = /^[ \t]*(`{3,})([^`]*)$/.exec(line)
    const ticks = fence?.[1]!.length ?? 0
    if (open && ticks >= open.ticks && fence![2]!.trim() === '') {
      blocks.push(text.slice(open.from, at))
      open = undefined
    } else if (!open && fence) open = { ticks, from: at + line.length + 1 }
    at += line.length + 1
  }
  return blocks
}

/** What a bracket of JSON is followed by; those of prose and code rarely are. */
const begins = /\{\s*["}]|\[\s*["{[\]\-\dtfn]/y

const opener: Readonly<Record<string, string>> = { '}': '{', ']': '[' }

/**
 * The outermost objects and lists that are whole, in order: a bracket that nothing closes hides none of them, and one in
 * a string does not count. Each letter is looked at once, however deep they nest.
 */
export function bracketed(text: string): string[] {
  const open: number[] = []
  const count: Record<string, number> = { '{': 0, '[': 0 }
  const whole: { from: number; to: number }[] = []
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!
    // A string ends with its line at the latest, so that a stray quote in prose swallows no answer.
    if (quoted && letter === '\\') at++
    else if (quoted) quoted = letter !== '"' && letter !== '\n'
    else if (letter === '"') quoted = open.length > 0
    else if (letter === '{' || letter === '[') {
      begins.lastIndex = at
      if (!begins.test(text)) continue
      open.push(at)
      count[letter]!++
    } else if (count[opener[letter] ?? '']) {
      const from = closed(text, open, count, opener[letter]!)
      while (whole.length > 0 && whole.at(-1)!.from > from) whole.pop()
      whole.push({ from, to: at + 1 })
    }
  }
  return whole.map(({ from, to }) => text.slice(from, to))
}

/** Where what is closed now began; what was opened in it and never closed was no bracket of JSON. */
function closed(text: string, open: number[], count: Record<string, number>, wanted: string): number {
  for (;;) {
    const from = open.pop()!
    count[text[from]!]!--
    if (text[from] === wanted) return from
  }
}
