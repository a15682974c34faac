import { CrewError } from './error.ts'

/** No pattern is worth more: one that goes wild would stop everything else here. */
const patternMs = 250

/** Looks for a regular expression as somebody else wrote it: bounded in time, and wrong ones are told at once. */
export async function patternOf(source: string): Promise<(text: string) => boolean> {
  try {
    new RegExp(source, 'm')
  } catch (error) {
    throw new CrewError(`pattern: ${(error as Error).message}.`)
  }
  const { Script, createContext } = await import('node:vm')
  const script = new Script('new RegExp(source, "m").test(text)')
  return (text) => {
    try {
      return script.runInContext(createContext({ source, text }), { timeout: patternMs }) === true
    } catch {
      throw new CrewError(`pattern: ${source} takes too long on this output; write one that does not backtrack.`)
    }
  }
}
