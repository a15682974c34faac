/** The first line of a prompt whose text must not be read as commands. */
const heading = 'Prompt, sent by termaite:'

/**
 * The words of an agent, or of a task, as a prompt for a program that a person types to. Such a program takes "!" or "/" at the
 * beginning for a command of the person, which no leash and no wall restricts, and "@" for a file that the person attaches. Words
 * that begin with a letter or a digit and have no "@" are a prompt everywhere; any others are put below a line of our own.
 */
export function plainPrompt(words: string): string {
  return /^[\p{L}\p{N}][^@]*$/u.test(words) || isPlainPrompt(words) ? words : `${heading}\n\n${words}`
}

/** Whether a prompt attaches no file and calls no command, because no person wrote it. */
export const isPlainPrompt = (prompt: string): boolean => prompt.startsWith(`${heading}\n`)
