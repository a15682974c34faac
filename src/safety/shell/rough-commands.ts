import type { Word } from './simple-command.ts'

/** Words that precede a command and are not commands themselves. */
const before =
  /^(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|in|select|function|time|!|\{|\}|\(|\)|\[\[|\]\])$/

/**
 * The commands that a script seems to run, for scripts that are not understood: each piece between separators, with its words. Quotes are
 * removed and substitutions opened, so that hidden commands are found as well.
 */
export function commandsIn(text: string): Word[][] {
  const pieces = text
    .slice(0, 20_000)
    .replace(/\\\n/g, ' ')
    .split(/\$\(+|`|[;&|\n(){}]+|\bdo\b|\bthen\b|\belse\b/)
  const found: Word[][] = []
  for (const piece of pieces.slice(0, 200)) {
    const words = (piece.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [])
      .filter((word) => !/^\d*[<>]/.test(word))
      .map((word): Word =>
        /[$`*?[\\]/.test(word) ? { text: word } : { text: word, values: [word.replace(/["']/g, '')] },
      )
    while (words[0] && (before.test(words[0].text) || /^\w+=/.test(words[0].text))) words.shift()
    if (words.length > 0) found.push(words)
  }
  return found
}
