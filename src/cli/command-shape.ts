/** One flag: `value` is what stands for its argument in the help; without one it is a switch. */
export type Flag = { short?: string; value?: string; choices?: readonly string[]; many?: true; help: string }

export type Flags = Record<string, Flag>

/** What one command takes: each is one row of a table, and its help is made from it. */
export type CommandShape = {
  name: string
  summary: string
  /** Words after the name, as they stand in the help: none, one, or (with a space or `…` in it) as many as it makes of them. */
  words?: string
  flags?: Flags
  examples: readonly string[]
}

export function usage(shape: CommandShape): string {
  return shape.name === 'termaite' ? 'termaite' : `termaite ${shape.name}`
}
