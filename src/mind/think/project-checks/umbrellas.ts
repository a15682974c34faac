import type { Kind } from './kind.ts'
import { firstOf } from './kind.ts'

/** Files that say how everything in a folder is built and tested, whatever it is written in; only one that tests counts. */
export const umbrellas: readonly Kind[] = [
  async (read) => targets('make', '[^:=\\n]', await firstOf(read, 'GNUmakefile', 'makefile', 'Makefile')),
  async (read) => targets('just', '[^:\\n]', await firstOf(read, 'justfile', 'Justfile', '.justfile')),
]

/** `before`: what may stand between a target's name and its colon. */
function targets(program: string, before: string, text = ''): string[] {
  const has = (name: string) => new RegExp(`^${name}(?:[ \\t]${before}*)?:(?!=)`, 'm').test(text)
  const test = ['test', 'tests', 'check'].find(has)
  if (test === undefined) return []
  return [...(has('build') ? [`${program} build`] : []), `${program} ${test}`]
}
