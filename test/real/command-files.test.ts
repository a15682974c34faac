import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CommandText } from '../../src/people/commands/command-text.ts'
import { findFileCommands } from '../../src/people/commands/command-files.ts'
import { ended } from '../cli/program.ts'
import { modelServer } from './model-server.ts'
import { installed, rig } from './rig.ts'

/** Where each CLI finds the commands of a project, and how it is given one. */
const clis: Record<string, { file: string; args(command: string, words: string): string[] }> = {
  claude: { file: '.claude/commands/probe.md', args: (command, words) => ['-p', `/${command} ${words}`.trim()] },
  opencode: {
    file: '.opencode/command/probe.md',
    args: (command, words) => ['run', '--command', command, ...words.split(' ').filter(Boolean)],
  },
  qwen: { file: '.qwen/commands/probe.md', args: (command, words) => ['-p', `/${command} ${words}`.trim()] },
  pi: { file: '.pi/prompts/probe.md', args: (command, words) => ['--approve', '-p', `/${command} ${words}`.trim()] },
}

const places =
  '$ARGUMENTS|$1|$2|$3|$@|$ARGUMENTS[0]|$ARGUMENTS[2]|$what|${1:-none}|${9:-none}|${@:-none}|${@:2}|${@:2:1}|{{args}}'
const text = `---\ndescription: A probe.\narguments: [which, what]\n---\n<probe>${places}</probe>\n`

for (const [cli, { file, args }] of Object.entries(clis))
  test(
    `${cli}: the arguments of a command stand where the CLI itself puts them`,
    { skip: !installed(cli) },
    async (t) => {
      const model = await modelServer(() => ({ text: 'ok' }))
      t.after(() => model.close())
      const place = await rig(cli, model.url)
      t.after(() => place[Symbol.asyncDispose]())
      const path = join(place.cwd, file)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
      const { root, cwd } = { root: place.cwd, cwd: place.cwd }
      const [command] = findFileCommands({ root, cwd, home: join(place.root, 'termaite'), trusted: true }).commands
      const ours = new CommandText(command!.body, command!.format, command!.names)
      for (const words of ['alpha beta gamma', 'alpha', '']) {
        const before = model.asked.length
        const env = place.env as Record<string, string>
        await ended(spawn(cli, args('probe', words), { cwd: place.cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }))
        const told = model.asked
          .slice(before)
          .flatMap((asked) => asked.text.match(/<probe>.*?<\/probe>/g) ?? [])
          .map((found) => JSON.parse(`"${found}"`) as string)
        assert.deepEqual([...new Set(told)], [ours.filledText(`<probe>${places}</probe>`, words)])
      }
    },
  )
