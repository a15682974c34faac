import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from '../cases.ts'
import type { ShellClass } from '../../src/safety/shell/shell-judgement.ts'
import { shellClasses } from '../../src/safety/shell/shell-judgement.ts'
import { judge } from '../../src/safety/shell/judge/shell-judge.ts'
import { layProject } from './shell/project.ts'
import { table } from './shell/table.ts'
import { aroundAny, aroundSimple } from './shell/wrappings.ts'
import { sized } from '../full.ts'

const project = layProject()

const free: readonly ShellClass[] = ['reads', 'edits', 'runs']
const denied = (Object.keys(table) as ShellClass[])
  .filter((kind) => !free.includes(kind))
  .flatMap((kind) => table[kind]!)
  // An unfinished script may become another command by the text after it, and a loop around a command gives $x a known value.
  .filter((command) => !/&&$|then ls$|unterminated|\$x\b/.test(command))

/** Simple commands alone can stand behind a wrapper. */
const simple = denied.filter(
  (command) =>
    /^[\w./~ -]+$/.test(command) && !/^(?:cd|set|export|declare|source|\.|alias|yarn$|env$|python3$)\b/.test(command),
)
test('no wrapping of a command that is asked about comes out as one that is not', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...denied),
      fc.array(fc.constantFrom(...aroundAny), { minLength: 1, maxLength: 3 }),
      async (command, around) => {
        const wrapped = around.reduce((inner, wrap) => wrap(inner), command)
        const { worst } = await judge(wrapped, project)
        assert.ok(!free.includes(worst.class), `${wrapped} came out as ${worst.class}: ${worst.why}`)
      },
    ),
    { numRuns: sized(300, 1500) },
  )
})

test('no command that is asked about comes out as free behind a program that runs another', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...simple),
      fc.array(fc.constantFrom(...aroundSimple.slice(0, 16)), { maxLength: 2 }),
      fc.constantFrom(...aroundSimple),
      fc.option(fc.constantFrom(...aroundAny), { nil: undefined }),
      async (command, inner, last, outer) => {
        const line = last(inner.reduce((text, wrap) => wrap(text), command))
        const wrapped = outer ? outer(line) : line
        const { worst } = await judge(wrapped, project)
        assert.ok(!free.includes(worst.class), `${wrapped} came out as ${worst.class}: ${worst.why}`)
      },
    ),
    { numRuns: sized(300, 1500) },
  )
})

test('quoting the letters of a command changes nothing, or makes it unreadable', async () => {
  const words = simple.filter((command) => !command.includes('~'))
  const quote = fc.constantFrom(
    (c: string) => `'${c}'`,
    (c: string) => `"${c}"`,
    (c: string) => (/[\w]/.test(c) ? `\\${c}` : c),
    (c: string) => c,
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...words), fc.infiniteStream(quote), async (command, quotes) => {
      const written = [...command].map((c) => (c === ' ' ? c : quotes.next().value(c))).join('')
      const [plain, found] = await Promise.all([judge(command, project), judge(written, project)])
      assert.ok(
        found.worst.class === plain.worst.class || found.worst.class === 'dynamic',
        `${written} came out as ${found.worst.class}`,
      )
    }),
    { numRuns: sized(150, 500) },
  )
})

test('no text breaks the judge, and the worst class is that of one of the parts', async () => {
  const pieces = fc.constantFrom(
    'ls',
    ' ',
    '$(',
    ')',
    '"',
    "'",
    '`',
    '<<E',
    '\n',
    '|',
    '&&',
    ';',
    '{',
    '}',
    '$X',
    '\\',
    '>',
    '<',
    '(',
    '!',
    'rm',
    '-rf',
    '~',
    '*',
    '[',
    ']',
    '#',
    'é',
    '\0',
    '=',
    'if',
    'fi',
    'E',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(pieces, { maxLength: 14 }), async (parts) => {
      const judged = await judge(parts.join(''), project)
      assert.ok(shellClasses.includes(judged.worst.class))
      if (judged.parts.length > 0) assert.ok(judged.parts.includes(judged.worst))
    }),
    { numRuns: sized(300, 1000) },
  )
})
