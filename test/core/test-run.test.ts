import { test } from 'node:test'
import assert from 'node:assert/strict'
import { isTestRun } from '../../src/core/work/test-run.ts'

const runs = [
  'npm test',
  'npm run test:unit -- --grep login',
  'CI=1 pnpm test 2>&1',
  'cd server && yarn test',
  'npx vitest run src/a.test.ts',
  'node --test test/a.test.ts',
  'pytest -q tests/test_a.py',
  'python3 -m pytest',
  'uv run pytest',
  'cargo test --workspace',
  'go test ./...',
  './gradlew test',
  'make check',
  'bundle exec rspec',
  'dotnet test > /dev/null',
]

const others = [
  'npm install',
  'npm testing',
  'npm test || true',
  'npm test | tail',
  'npm test; echo done',
  'npm test &',
  'echo npm test',
  'npm test && npm publish',
  'npm test --help',
  'npx vitest --watch',
  'pytest --collect-only',
  'cargo test --no-run',
  'make -n test',
  'grep -r "npm test" .',
  'x=$(npm test)',
  '',
]

test('a command that does nothing but run tests is evidence, and one that hides their result is not', () => {
  assert.deepEqual(
    runs.filter((command) => !isTestRun(command)),
    [],
  )
  assert.deepEqual(others.filter(isTestRun), [])
})
