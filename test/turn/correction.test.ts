import { test } from 'node:test'
import assert from 'node:assert/strict'
import { isCorrection } from '../../src/turn/rotation/correction.ts'

const corrections = [
  "That's wrong.",
  'no, that is wrong',
  "No, that's not what I asked for. I want a table",
  'it still fails',
  "it's still broken",
  'the tests still fail',
  'Still failing: TypeError: x is not a function',
  'you broke the build',
  'Revert that',
  'undo your last change',
  'wrong',
  "that didn't work",
  'That did not work, the test fails',
  'this is incorrect. Use the other port',
  "you didn't fix it",
  'Das ist falsch.',
  'Nein, das hat nicht funktioniert',
  'ça ne marche toujours pas',
]

const others = [
  'is that wrong?',
  'why does it still fail?',
  'that is wrong in the docs',
  'that is not wrong',
  'that is right',
  'fix the wrong port',
  'the build is broken',
  'tests fail on main',
  'the test still fails on windows with node 18, add a skip',
  'no',
  'no thanks',
  'undo',
  'undo the migration of last week',
  'it works',
  'it is wrong to assume that users exist; handle it',
  'wrong password is shown twice',
  'what is wrong with this',
  'das ist richtig',
  '',
]

test('only a prompt that plainly calls the last answer wrong is a correction', () => {
  assert.deepEqual(
    corrections.filter((prompt) => !isCorrection(prompt)),
    [],
  )
  assert.deepEqual(others.filter(isCorrection), [])
})
