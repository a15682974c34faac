import { test } from 'node:test'
import assert from 'node:assert/strict'
import type { CommandFormat } from '../../src/people/commands/command-text.ts'
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { CommandText } from '../../src/people/commands/command-text.ts'
import { defined } from '../../src/base/defined.ts'
import { findFileCommands } from '../../src/people/commands/command-files.ts'
import { fileReferences } from '../../src/core/talk/file-references.ts'
import { groundOf } from '../native/loop/ground.ts'
import { goldenOf } from '../golden.ts'

const golden = goldenOf(import.meta.filename)

const piecesOf = (body: string, format?: CommandFormat) => new CommandText(body, format).pieces

test('command lines are found before anything is filled in', () => {
  assert.deepEqual(piecesOf('a !`git status` b'), [{ text: 'a ' }, { shell: 'git status' }, { text: ' b' }])
  assert.deepEqual(piecesOf('Diff:!`git diff`'), [{ text: 'Diff:' }, { shell: 'git diff' }, { text: '' }])
  assert.deepEqual(piecesOf('x\n```!\na\nb\n```\ny'), [{ text: 'x\n' }, { shell: 'a\nb' }, { text: '\ny' }])
  for (const text of ['no!`x`', '`!x`', '!x', 'wow!', '```\ncode\n```']) assert.deepEqual(piecesOf(text), [{ text }])
  const braced = "a !{grep -r {{args}} . | awk '{print}'} and @{my notes.md} !`b` !{} @{open"
  assert.deepEqual(piecesOf(braced, 'braces'), [
    { text: 'a ' },
    { shell: "grep -r {{args}} . | awk '{print}'" },
    { text: ' and ' },
    { file: 'my notes.md' },
    { text: ' !`b` !{} @{open' },
  ])
  assert.deepEqual(piecesOf(braced), [
    { text: "a !{grep -r {{args}} . | awk '{print}'} and @{my notes.md} " },
    { shell: 'b' },
    { text: ' !{} @{open' },
  ])
  assert.deepEqual(piecesOf('a !`b`', 'shell'), [{ text: 'a !`b`' }], 'pi runs nothing')
})

test('an argument stays a word of a command line, whatever is typed', () => {
  const cases: [string, string, string, CommandFormat?][] = [
    ['git log $ARGUMENTS', '-n 5 main', 'git log -n 5 main'],
    ['git log $ARGUMENTS', 'a;rm -rf b', "git log 'a;rm' -rf b"],
    ['git show $1', '$(rm x) more', "git show '$(rm'"],
    ['git show "$1"', '"a b`c`"', 'git show "a b\\`c\\`"'],
    ["echo '$1'", '"it\'s"', "echo 'it'\\''s'"],
    ['echo \\$1 $2', 'a b', 'echo \\$1 b'],
    ['echo $1', '', "echo ''"],
    ['echo $10 $ARGUMENTSX', 'a', 'echo $10 $ARGUMENTSX'],
    ['grep -r {{args}} .', 'a;b c', "grep -r 'a;b' c .", 'braces'],
    ['git show $0 $1', '$(rm) b', "git show '$(rm)' b", 'indexed'],
    ['git show $0 $1', 'a', 'git show a $1', 'indexed'],
    ['git show "$2"', 'a b; c', 'git show "b; c"', 'greedy'],
  ]
  for (const [line, typed, expected, format] of cases)
    assert.equal(new CommandText(line, format).filledShell(line, typed), expected)
})

test('no typed argument runs a program, wherever its place in a command line is', (t) => {
  const { at, write } = groundOf(t, {})
  write('repo/x', '')
  const folder = at('repo')
  const lines: [line: string, format?: CommandFormat][] = [
    ['echo $1'],
    ['echo "$1"'],
    ["echo 'a $1'"],
    ['echo "$(basename "$1")"'],
    ['echo "$(printf %s "$(basename $1)")" $2'],
    ["# don't\necho $1"],
    ["true # it's\necho $0", 'indexed'],
    ['cat <<EOF\n$1\nEOF'],
    ["cat <<'EOF'\nit's\nEOF\necho $1"],
    ["echo $'it\\'s' $1"],
    ["echo $'a\\'$1'"],
    ['echo `basename {{args}}`', 'braces'],
    ['echo $(( $1 + 1 ))'],
    ['(( x = $1 ))'],
    ['echo x$$1'],
    ['echo "${X:-"$1"}"'],
    ['echo ${X:-$1}'],
    ['echo "${HOME}" $1'],
    ['case a in a) echo $1 ;; esac'],
    ['echo $(case a in a) echo ;; esac) "$1"'],
    ['[[ $1 -eq 1 ]]'],
    ['echo ) $1'],
    ['echo \\$1 $1 \\" "$1'],
    ['cat <<< $1'],
    ['echo "a\\"$1"'],
    ['echo a#$1'],
    ['eval echo $1'],
  ]
  const typed = ['$(touch INJ)', '; touch INJ #', "'; touch INJ #", '"; touch INJ #', '`touch INJ`', 'a[$(touch INJ)]']
  const ran: string[] = []
  for (const [line, format] of lines)
    for (const words of typed.flatMap((one) => [one, `"${one.replaceAll('"', '')}"`, `'${one.replaceAll("'", '')}'`])) {
      let filled: string
      try {
        filled = new CommandText(line, format).filledShell(line, words)
      } catch (error) {
        assert.match(String(error), /cannot be filled/)
        continue
      }
      spawnSync('bash', ['-c', filled], { cwd: folder })
      if (existsSync(at('repo/INJ'))) ran.push(`${line} ← ${words}: ${filled}`)
      rmSync(at('repo/INJ'), { force: true })
    }
  assert.deepEqual(ran, [])
  const works = (line: string, words = 'a') => new CommandText(line).filledShell(line, words)
  assert.deepEqual(
    [
      works('echo "$(basename "$1")" $2', "x 'y z'"),
      works('git diff $(git merge-base HEAD main) -- $1', 'src'),
      works('echo "${HOME}" $1'),
      works("true # it's\necho $1"),
      works('cat <<EOF\n$1\nEOF', ''),
    ],
    [
      `echo "$(basename "x")" 'y z'`,
      'git diff $(git merge-base HEAD main) -- src',
      'echo "${HOME}" a',
      "true # it's\necho a",
      'cat <<EOF\n$1\nEOF',
    ],
  )
})

test('each CLI’s places for arguments are filled as that CLI fills them', () => {
  const typed = '12 "two words" end'
  const filled = (body: string, format?: CommandFormat, names?: string[]) =>
    new CommandText(body, format, names).filledText(body, typed)
  assert.deepEqual(
    [
      filled('$1|$2|$4|$ARGUMENTS|$0|$10|$@'),
      filled('$1|$2|$ARGUMENTS|$0', 'greedy'),
      filled('$0|$1|$3|$ARGUMENTS|$ARGUMENTS[1]|$ARGUMENTS[9]|$what|$whatever', 'indexed', ['id', 'what']),
      filled('$1|$2|$4|$@|$ARGUMENTS|${4:-none}|${1:-none}|${@:-none}|${@:2}|${@:2:1}|${1}', 'shell'),
      filled('$1|{{args}}', 'braces'),
    ],
    [
      '12|two words||12 "two words" end|$0|$10|$@',
      '12|two words end|12 "two words" end|$0',
      '12|two words|$3|12 "two words" end|two words|$ARGUMENTS[9]|two words|$whatever',
      '12|two words||12 two words end|12 two words end|none|12|12 two words end|two words end|two words|${1}',
      '$1|12 "two words" end',
    ],
  )
  const has = (body: string, words: string, format?: CommandFormat) => new CommandText(body, format).hasPlaceFor(words)
  assert.deepEqual(
    [has('Review.', 'src'), has('Fix $1.', 'src'), has('Fix $1.', 'src', 'indexed'), has('Fix $0.', 'src', 'indexed')],
    [false, true, false, true],
    'a place that stays as it is written holds no word',
  )
})

test('the format of a command is that of the CLI whose folder it lies in, also through a link', (t) => {
  const { at, ground } = groundOf(t, {
    'repo/.termaite/commands/a.md': 'a $1',
    'repo/.termaite/commands/b.md': 'b {{args}}',
    'repo/.termaite/commands/c.md': '---\narguments: [one, two]\n---\nc $two $0',
    'repo/.claude/commands/d.md': 'd $1',
    'repo/.opencode/command/e.md': 'e $1',
    'repo/.gemini/commands/f.toml': 'description = "F."\nprompt = """\nf {{args}} $1\n"""\n',
    'repo/.qwen/commands/g.md': 'g $1',
    'repo/.pi/prompts/h.md': 'h $@',
    'repo/.gemini/commands/broken.toml': 'prompt = "open',
    'repo/.gemini/commands/none.toml': 'prompt = "  "',
    'cli/.claude/commands/i.md': 'i $1',
    'home/commands/own.md': 'own $1',
  })
  symlinkSync(at('cli/.claude/commands'), at('home/commands/claude'))
  const { commands, warnings } = findFileCommands(ground)
  assert.deepEqual(
    commands.map(({ name, format, names, body }) => defined({ name, format, names, body })),
    [
      { name: 'a', body: 'a $1' },
      { name: 'b', format: 'braces', body: 'b {{args}}' },
      { name: 'c', format: 'indexed', names: ['one', 'two'], body: 'c $two $0' },
      { name: 'claude:i', format: 'indexed', body: 'i $1' },
      { name: 'd', format: 'indexed', body: 'd $1' },
      { name: 'e', format: 'greedy', body: 'e $1' },
      { name: 'f', format: 'braces', body: 'f {{args}} $1' },
      { name: 'g', format: 'braces', body: 'g $1' },
      { name: 'h', format: 'shell', body: 'h $@' },
      { name: 'own', body: 'own $1' },
    ],
  )
  golden(t, warnings)
})

test('an @ in the output of a command line attaches no file', () => {
  const prompt = 'see @a.ts\n<output command="git log">\nby @secret.txt\n```\n</output>\nand @b.ts'
  assert.deepEqual(
    fileReferences(prompt).map(({ readings }) => readings[0]!.path),
    ['a.ts', 'b.ts'],
  )
})

test('commands in files: their owner, their text, and that none replaces one of termaite’s own', (t) => {
  const { ground } = groundOf(t, {
    'repo/.termaite/commands/ship.md': 'Ship it.',
    'repo/.claude/commands/ship.md': 'Another.',
    'repo/.claude/commands/git/commit.md':
      '---\ndescription: Commits.\nargument-hint: [message] [how]\nallowed-tools: Bash(git add:*), Bash(git commit:*)\nmodel: haiku\ncontext: fork\n---\nCommit $ARGUMENTS',
    'repo/.opencode/commands/undo.md': '---\nagent: build\n---\nUndo \u001b[31mit\u001b[0m.',
    'home/commands/ship.md': 'Mine.',
    'home/commands/own.md': 'Own.',
  })
  golden(t, findFileCommands(ground, ['undo']), { [ground.home]: '<home>' })
  const untrusted = findFileCommands({ ...ground, trusted: false }, ['undo'])
  assert.deepEqual(
    [untrusted.commands.map(({ name }) => name), untrusted.unused],
    [
      ['own', 'ship'],
      [
        { name: 'git:commit', place: '.claude/commands/git/commit.md' },
        { name: 'project:undo', place: '.opencode/commands/undo.md' },
        { name: 'ship', place: '.termaite/commands/ship.md' },
      ],
    ],
  )
})
