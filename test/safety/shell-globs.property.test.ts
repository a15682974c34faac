import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from '../cases.ts'
import { judge } from '../../src/safety/shell/judge/shell-judge.ts'
import { matchesOf } from '../../src/safety/shell/touched-paths.ts'
import { layProject } from './shell/project.ts'
import { sized } from '../full.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-globs-')))
after(() => rmSync(base, { recursive: true, force: true }))

const letters = ['a', 'b', 'B', 'Z', '1', '-', '.', '[', ']', '!', '^', ':', '=', ',', '*', '?', 'é', '😀', '²']
const name = fc
  .array(fc.constantFrom(...letters), { minLength: 1, maxLength: 4 })
  .map((signs) => signs.join(''))
  .filter((text) => text !== '.' && text !== '..')
const kind = fc.constantFrom('file', 'file', 'folder', 'link', 'away')

const pieces = ['*', '**', '?', 'a', 'b', 'B', '1', '-', '.', '..', '/', './', '[', ']', '!', '^', 'é'].concat(
  ['[a]', '[!a]', '[^a]', '[]a]', '[a-z]', '[A-Z]', '[!a-b]', '[0-9]', '[a-]', '[z-a]', '[ab1]', '[B-a]', '[!1]'],
  ['[[:alpha:]]', '[[:punct:]]', '[[=a=]]', '[[.-.]]', '[a[:digit:]]', '[]', '[!]', '[!]a]', '[.]', '[+-9]', '[a/b]'],
)
const pattern = fc
  .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 5 })
  .map((signs) => signs.join(''))
  .filter((text) => /[*?[]/.test(text) && !text.startsWith('/') && !text.includes('../'))

/** The words that a shell makes of each pattern. */
function expanded(shell: string, locale: string, patterns: readonly string[], cwd: string): string[][] {
  const script = patterns.map((text) => `printf '%s\\0' ${text}; printf '\\0'`).join('\n')
  const env = { PATH: process.env.PATH, LC_ALL: locale }
  const { stdout } = spawnSync(shell, ['-c', script], { cwd, env, encoding: 'utf8' })
  return stdout
    .split('\0\0')
    .slice(0, -1)
    .map((words) => paths(words.split('\0')))
}

/** Several slashes lead to the same place as one: shells differ in how many of them they keep. */
const paths = (words: readonly string[]) => words.map((one) => one.replaceAll(/\/+/g, '/')).sort()

const shells = ['bash', 'dash'].filter((shell) => spawnSync(shell, ['-c', 'true']).status === 0)

test('a pattern that is understood meets the files that a shell finds for it, in every language', () => {
  let count = 0
  let understood = 0
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(name, kind), { minLength: 1, maxLength: 12, selector: ([one]) => one }),
      fc.array(pattern, { minLength: 40, maxLength: 60 }),
      (entries, patterns) => {
        const folder = join(base, String(count++))
        mkdirSync(folder)
        for (const [one, type] of entries) {
          const path = join(folder, one)
          if (type === 'folder') {
            mkdirSync(path)
            for (const inner of ['a', '.b', '-x']) writeFileSync(join(path, inner), '')
          } else if (type === 'link') symlinkSync('nowhere', path)
          else if (type === 'away') symlinkSync('..', path)
          else writeFileSync(path, '')
        }
        const known = patterns.flatMap((text) => {
          const found = matchesOf(text, folder)
          return found ? [{ text, words: paths(found.length === 0 ? [text] : found) }] : []
        })
        understood += known.length
        const texts = known.map(({ text }) => text)
        for (const shell of shells)
          for (const locale of ['C.UTF-8', 'C'])
            assert.deepEqual(
              expanded(shell, locale, texts, folder).map((words, i) => ({ text: texts[i], words })),
              known,
              `${shell} ${locale}`,
            )
        rmSync(folder, { recursive: true })
      },
    ),
    { numRuns: sized(12, 400) },
  )
  assert.ok(understood > count * 3, `${understood} patterns were understood`)
})

test('a pattern with many stars is matched in time', () => {
  writeFileSync(join(base, 'a'.repeat(200)), '')
  assert.deepEqual(matchesOf(`${'*a'.repeat(60)}*b`, base), [])
  rmSync(join(base, 'a'.repeat(200)))
})

const project = layProject()
const { root } = project
mkdirSync(join(root, 'flags'))
writeFileSync(join(root, 'flags', '-exec'), '')
symlinkSync(project.away, join(root, 'src', '[a]x'))
writeFileSync(join(root, 'src', 'ax'), '')
mkdirSync(join(root, 'odd'))
symlinkSync(join(root, '.env'), Buffer.concat([Buffer.from(join(root, 'odd/')), Buffer.from([0xff])]))

/** Patterns about which shells differ, and patterns that are looked up before the script changes what they meet. */
const dark = [
  'cat .[]e]nv',
  'cat .[[:alpha:]]nv',
  'cat .[!x]nv',
  'cat .[e-e]nv',
  'cat .[[=e=]]nv',
  'cat .[[.e.]]nv',
  'cat .["e"]nv',
  'cat .[e\\]]nv',
  "cat .['!'e]nv",
  'cat .e[^x]v',
  'cat .*',
  'grep -r x .*',
  'cat src/[[:alpha:]]x',
  'cat odd/*',
  'cat odd/?',
  'x=src/[a]x; cat "$x"',
  "cd flags && find . [[:punct:]]exec bash ../run.sh ';'",
  "cd flags && find . [-]exec bash ../run.sh ';'",
  "cd flags && find . *xec bash ../run.sh ';'",
  "cd flags && find . ?exec bash ../run.sh ';'",
  'for f in *; do (cd flags && cat "$f"); done',
  "touch ./-exec && find . [-]exec bash run.sh ';'",
  "touch ./-exec; find . ?exec bash run.sh ';'",
  "touch ./-exec | find . ?exec bash run.sh ';'",
  "find . ?exec bash run.sh ';' | tee ./-exec",
  "touch ./-exec & find . ?exec bash run.sh ';'",
  "( find . ?exec bash run.sh ';' & ); touch ./-exec",
  "echo x > ./-exec; find . ?exec bash run.sh ';'",
  "{ find . ?exec bash run.sh ';'; } > ./-exec",
  'bash -c "find . ?exec bash run.sh \';\'" > ./-exec',
  "for i in 1 2; do find . ?exec bash run.sh ';'; touch ./-exec; done",
  'for i in 1 2; do for f in ?exec; do find . "$f" bash run.sh \';\'; done; touch ./-exec; done',
  "if touch ./-exec; then find . ?exec bash run.sh ';'; fi",
  "bash -c 'touch ./-exec'; find . ?exec bash run.sh ';'",
  "timeout 5 touch ./-exec && find . ?exec bash run.sh ';'",
  'cd flags && grep -f src* ../README.md',
  'grep -f src/*.ts README.md',
]

test('a pattern that is not understood, or may meet other files when it runs, is asked about', async () => {
  const free: unknown[] = []
  for (const command of dark) {
    const { worst } = await judge(command, project)
    if (['reads', 'edits', 'removes'].includes(worst.class)) free.push({ command, found: worst.class })
  }
  assert.deepEqual(free, [])
})

test('a pattern of stars, plain letters and ranges is understood where no language reads it otherwise', async () => {
  const classes = {
    'cat src/*.ts': 'reads',
    'cat src/?.ts': 'reads',
    'cat src/[ab].ts': 'reads',
    'cat src/[!x].ts': 'reads',
    'ls src/[a-c].ts': 'reads',
    'ls -d .??*': 'reads',
    'for f in src/*.ts; do wc -l "$f"; done': 'reads',
    'for f in src/*.ts; do sed -i s/a/b/ "$f"; done': 'edits',
    'wc -l src/*.ts > count.txt': 'edits',
    'wc -l src/*.ts && touch done.txt': 'edits',
    'rm -f src/*.bak': 'removes',
  }
  const found: Record<string, string> = {}
  for (const command of Object.keys(classes)) found[command] = (await judge(command, project)).worst.class
  assert.deepEqual(found, classes)
})
