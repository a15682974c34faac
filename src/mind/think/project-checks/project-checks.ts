import type { Check } from '../check/kinds.ts'
import type { Minds } from '../minds.ts'
import { isInstalled, programOf } from './installed.ts'
import { languages } from './languages.ts'
import { umbrellas } from './umbrellas.ts'

/** How a project is built and tested, the build first; `missing`: the programs for it that this machine does not have. */
export type ProjectChecks = { checks: Check[]; missing: string[] }

/** Found by what lies in its folder: a make file says it for everything below it, else each language does. */
export async function projectChecks({ hands, machine }: Pick<Minds, 'hands' | 'machine'>): Promise<ProjectChecks> {
  const commands = (await found(umbrellas)).slice(0, 1).flat()
  if (commands.length === 0) commands.push(...(await found(languages)).flat())
  const able = commands.filter((command) => isInstalled(programOf(command), machine.spec))
  const missing = commands.filter((command) => !able.includes(command)).map(programOf)
  return { checks: able.map((command) => ({ kind: 'command', command })), missing: [...new Set(missing)] }

  function read(path: string) {
    return hands.read(path).catch(() => undefined)
  }

  async function found(kinds: typeof languages): Promise<string[][]> {
    const all = await Promise.all(kinds.map((kind) => kind(read)))
    return all.filter((some) => some.length > 0)
  }
}
