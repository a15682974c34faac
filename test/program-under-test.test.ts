import { test } from 'node:test'
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { packageFolder, start } from './cli/program.ts'

const root = join(import.meta.dirname, '..')

/** Files with such words that mean other paths: of a machine in the test, of the sources, or inside the package. */
const others = [
  'test/binary/bare-machine.test.ts',
  'test/bundle.test.ts',
  'test/chat/input-popup.test.ts',
  'test/chat/run.ts',
  'test/cli/completion.test.ts',
  'test/crew/crew.test.ts',
  'test/native/mcp-entries.test.ts',
  'test/program-under-test.test.ts',
  'test/real/package.test.ts',
  'test/systems.test.ts',
]

test('no test and no bench names a file of the checkout that was built, or starts our sources', () => {
  const built =
    /bin\/termaite|termaite\.cjs|'bin', 'termaite|\.\.\/dist\b|'\.\.', 'dist'|\broot, '(?:bin|dist)'|\bdist\/main\b|(?<!packageFolder, )'dist', 'main|src\/main\.ts\b|'src', 'main/
  const found = globSync('{test,bench}/**/*.{ts,mjs,cjs,sh}', { cwd: root })
    .filter((file) => !file.includes('node_modules'))
    .filter((file) => built.test(readFileSync(join(root, file), 'utf8')))
  // A file here: take `start` or `packageFolder` of test/cli/program.ts.
  assert.deepEqual(found.sort(), others)
})

test('the program under test is installed outside the checkout, and no folder above it has packages of the checkout', () => {
  assert.match(relative(root, packageFolder), /^\.\./)
  assert.deepEqual(
    start.filter((word) => word.startsWith(root) && !word.includes('node_modules/node/')),
    [],
  )
  assert.equal(process.env.NODE_PATH, undefined)
  const development = Object.keys(
    (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { devDependencies: Record<string, string> })
      .devDependencies,
  )
  const visible = foldersAbove(packageFolder).flatMap((folder) =>
    globSync(development.map((name) => join(folder, 'node_modules', name))),
  )
  assert.deepEqual(visible, [])
})

function foldersAbove(folder: string): string[] {
  const above = join(folder, '..')
  return above === folder ? [folder] : [folder, ...foldersAbove(above)]
}
