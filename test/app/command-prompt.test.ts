import { test } from 'node:test'
import assert from 'node:assert/strict'
import { filled, filledShell, piecesOf } from '../../src/app/commands/command-prompt.ts'
import { findFileCommands } from '../../src/app/commands/command-files.ts'
import { fileReferences } from '../../src/core/talk/file-references.ts'
import { groundOf } from '../agents/native/ground.ts'

test('command lines are found before anything is filled in', () => {
  assert.deepEqual(piecesOf('a !`git status` b'), [{ text: 'a ' }, { shell: 'git status' }, { text: ' b' }])
  assert.deepEqual(piecesOf('Diff:!`git diff`'), [{ text: 'Diff:' }, { shell: 'git diff' }, { text: '' }])
  assert.deepEqual(piecesOf('x\n```!\na\nb\n```\ny'), [{ text: 'x\n' }, { shell: 'a\nb' }, { text: '\ny' }])
  for (const text of ['no!`x`', '`!x`', '!x', 'wow!', '```\ncode\n```']) assert.deepEqual(piecesOf(text), [{ text }])
})

test('an argument stays a word of a command line, whatever is typed', () => {
  const cases: [string, string, string][] = [
    ['git log $ARGUMENTS', '-n 5 main', 'git log -n 5 main'],
    ['git log $ARGUMENTS', 'a;rm -rf b', "git log 'a;rm' -rf b"],
    ['git show $1', '$(rm x) more', "git show '$(rm'"],
    ['git show "$1"', '"a b`c`"', 'git show "a b\\`c\\`"'],
    ["echo '$1'", '"it\'s"', "echo 'it'\\''s'"],
    ['echo \\$1 $2', 'a b', 'echo \\$1 b'],
    ['echo $1', '', "echo ''"],
    ['echo $10 $ARGUMENTSX', 'a', 'echo $10 $ARGUMENTSX'],
  ]
  for (const [line, typed, expected] of cases) assert.equal(filledShell(line, typed), expected)
})

test('arguments have places in the text, or follow it', () => {
  assert.equal(filled('Fix $1 ($2); $ARGUMENTS', '12 "two words"'), 'Fix 12 (two words); 12 "two words"')
  assert.equal(filled('Review.', 'src'), 'Review.\n\nsrc')
  assert.equal(filled('Review.', ' '), 'Review.')
})

test('an @ in the output of a command line attaches no file', () => {
  const prompt = 'see @a.ts\n<output command="git log">\nby @secret.txt\n```\n</output>\nand @b.ts'
  assert.deepEqual(
    fileReferences(prompt).map(({ readings }) => readings[0]!.path),
    ['a.ts', 'b.ts'],
  )
})

test('commands in files: their owner, their text, and that none replaces one of termaite’s own', (t) => {
  const { at, ground } = groundOf(t, {
    'repo/.termaite/commands/ship.md': 'Ship it.',
    'repo/.claude/commands/ship.md': 'Another.',
    'repo/.claude/commands/git/commit.md':
      '---\ndescription: Commits.\nargument-hint: [message] [how]\nallowed-tools: Bash(git add:*), Bash(git commit:*)\nmodel: haiku\ncontext: fork\n---\nCommit $ARGUMENTS',
    'repo/.opencode/commands/undo.md': '---\nagent: build\n---\nUndo \u001b[31mit\u001b[0m.',
    'home/commands/ship.md': 'Mine.',
    'home/commands/own.md': 'Own.',
  })
  assert.deepEqual(findFileCommands(ground, ['undo']), {
    commands: [
      {
        name: 'git:commit',
        description: 'Commits.',
        hint: '[message] [how]',
        tools: ['Bash(git add:*)', 'Bash(git commit:*)'],
        model: 'haiku',
        body: 'Commit $ARGUMENTS',
        place: '.claude/commands/git/commit.md',
        from: 'project',
        unknown: ['context'],
      },
      { name: 'own', description: 'Own.', body: 'Own.', place: at('home/commands/own.md'), from: 'user' },
      {
        name: 'project:undo',
        description: 'Undo it.',
        body: 'Undo \u001b[31mit\u001b[0m.',
        place: '.opencode/commands/undo.md',
        from: 'project',
      },
      { name: 'ship', description: 'Ship it.', body: 'Ship it.', place: '.termaite/commands/ship.md', from: 'project' },
    ],
    warnings: [
      '.opencode/commands/undo.md is /project:undo, because /undo is a command of termaite.',
      '.claude/commands/ship.md is not used: .termaite/commands/ship.md has the same name and comes first.',
      `${at('home/commands/ship.md')} is not used: .termaite/commands/ship.md has the same name and comes first.`,
    ],
    unused: [],
  })
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
