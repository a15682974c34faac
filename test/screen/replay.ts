import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A CLI's stand-in: says what the real one was recorded to say; `play <name>` in the prompt chooses what. */
const [cli = '', twist = ''] = process.argv.slice(2)
const typed = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const prompt = String((await typed.next()).value)
const name = /play (\S+?)(?=[\s\\"<])/.exec(prompt.slice(prompt.lastIndexOf('play ')))?.[1] ?? 'answer'
const file = join(import.meta.dirname, '..', 'fixtures', 'recorded', cli, `${name}.json`)
const { out, code } = JSON.parse(readFileSync(file, 'utf8')) as { out: string; code: number }
const twists = JSON.parse(readFileSync(twist, 'utf8')) as [string, string][]
const said = twists.reduce((text, [from, to]) => text.replaceAll(from, () => to), out)
for (const line of said.split('\n').filter((one) => one !== '')) {
  process.stdout.write(`${line}\n`)
  // The CLI waits for the answer to its question, as the real one did.
  if (line.includes('"can_use_tool"')) await typed.next()
}
process.exit(code)
