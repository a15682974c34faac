/**
 * What a command does, from the harmless to the worst: looks · changes files of the project · runs the project's own
 * programs · removes files of the project · and what is asked for in every mode that asks.
 */
export const shellClasses = [
  'reads',
  'edits',
  'runs',
  'removes',
  'network',
  'outside',
  'unknown',
  'secrets',
  'installing',
  'system',
  'destructive',
  'dynamic',
] as const
export type ShellClass = (typeof shellClasses)[number]

export type Touch = 'read' | 'write' | 'remove' | 'run'

/** A file that a command touches, as it was written and where that leads. */
export type Touched = { path: string; real: string; how: Touch }

/** One simple command, wrapper, redirection or assignment, judged alone; `argv` where every word of it is known. */
export type Part = { text: string; argv?: string[]; class: ShellClass; why: string; paths: Touched[] }

export type Judgement = { command: string; parts: Part[]; worst: Part }

export type Finding = { class: ShellClass; why: string }

export function worse<T extends { class: ShellClass }>(a: T, b: T): T {
  return shellClasses.indexOf(b.class) > shellClasses.indexOf(a.class) ? b : a
}

export function judgementOf(command: string, parts: Part[]): Judgement {
  const nothing: Part = { text: '', class: 'reads', why: 'it does nothing', paths: [] }
  return { command, parts, worst: parts.length === 0 ? nothing : parts.reduce(worse) }
}
