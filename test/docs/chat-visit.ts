// Opens the chat in a terminal, as a page says, and leaves it when it is there: with a prompt, after its turn.
import { dirname } from 'node:path'
import { Glass, keys } from '../screen/glass.ts'

const home = process.env.TERMAITE_HOME!
const glass = new Glass({ project: process.cwd(), folder: dirname(home), home } as never, {
  args: process.argv.slice(2),
  env: { PATH: process.env.PATH! },
})
const prompt = process.argv.slice(2).find((word) => word.includes(' '))
try {
  await glass.shows(prompt === undefined ? /(?:→|next) \w/ : /─ \w+ · .*[\d.]+ s ·/)
  glass.type(keys.ctrlD)
  const { exitCode } = await glass.exited
  process.exitCode = exitCode
} finally {
  glass.end()
}
