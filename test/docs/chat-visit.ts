// Opens the chat in a terminal, as a page says, and leaves it when it is there: with a prompt, after its turn.
import { dirname } from 'node:path'
import { ProgramWindow, keys } from '../screen/program-window.ts'

const home = process.env.TERMAITE_HOME!
const window = new ProgramWindow({ project: process.cwd(), folder: dirname(home), home } as never, {
  args: process.argv.slice(2),
  env: { PATH: process.env.PATH! },
})
const prompt = process.argv.slice(2).find((word) => word.includes(' '))
try {
  await window.shows(prompt === undefined ? /(?:→|next) \w/ : /─ \w+ · .*[\d.]+ s ·/)
  window.type(keys.ctrlD)
  const { exitCode } = await window.exited
  process.exitCode = exitCode
} finally {
  window.end()
}
