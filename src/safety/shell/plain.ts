/** Words that are more than a program's name to a shell. */
const reserved = new Set(
  'if then else elif fi for while until do done case esac in select function time coproc export declare typeset local readonly unset'.split(
    ' ',
  ),
)

const plain = /^[ \t]*[\w./:,@%+-][\w./:,@%+=-]*(?:[ \t]+[\w./:,@%+=-]+)*[ \t]*$/

/** The words of a command that has no syntax at all: most have none, and the parser costs thirty milliseconds and twelve megabytes. */
export function plainWords(command: string): string[] | undefined {
  if (!plain.test(command)) return undefined
  const words = command.trim().split(/[ \t]+/)
  return reserved.has(words[0]!) || words[0]!.includes('=') ? undefined : words
}
