import type { TestContext } from 'node:test'
import type { OutputOptions } from 'rolldown'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bundle } from '../scripts/bundle.ts'

/** A small tree with a package that is installed with ours, one for the development alone, and these source files. */
function planted(t: TestContext, files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-bundle-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const all = {
    'package.json': JSON.stringify({
      dependencies: { beside: '1.0.0' },
      optionalDependencies: { '@scope/native': '1.0.0' },
      devDependencies: { tool: '1.0.0' },
    }),
    'node_modules/tool/package.json': JSON.stringify({ name: 'tool', version: '1.0.0', main: 'tool.js' }),
    'node_modules/tool/tool.js': 'exports.hammer = 7',
    ...files,
  }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const build = (external?: string[], codeSplitting?: OutputOptions['codeSplitting']) =>
    bundle({
      cwd: folder,
      platform: 'node',
      ...(external && { external }),
      ...(codeSplitting && { preserveEntrySignatures: 'allow-extension' as const }),
      input: { main: 'src/main.ts' },
      output: {
        dir: join(folder, 'dist'),
        format: 'cjs',
        chunkFileNames: 'chunks/[name].cjs',
        entryFileNames: '[name].cjs',
        ...(codeSplitting && { codeSplitting }),
      },
    })
  return { folder, build }
}

const missing = (source: string, name: string, file: string) => ({
  message: `${source} imports ${name}, so ${file} asks for a module that the installed package does not have: let it be bundled, or make it a dependency.`,
})

test('Node and the packages that are installed with ours stay imports, and a development dependency becomes a part of the bundle', async (t) => {
  const { folder, build } = planted(t, {
    'src/main.ts': `
      import { readFileSync } from 'node:fs'
      export const all = () => [readFileSync, import('beside/part'), import('@scope/native'), import('tool')]`,
  })
  await build()
  const files = readdirSync(join(folder, 'dist'), { recursive: true }).map(String)
  assert.deepEqual(files.sort(), ['chunks', 'chunks/rolldown-runtime.cjs', 'chunks/tool.cjs', 'main.cjs'])
})

test('an import() of a development dependency that is left as it is ends the build', async (t) => {
  const { build } = planted(t, {
    'src/main.ts': `export const later = () => import("./later.ts")`,
    'src/later.ts': `export const tool = () => import('tool')`,
  })
  await assert.rejects(build(['tool']), missing('src/later.ts', 'tool', 'chunks/later.cjs'))
})

test('an import of a package that is not installed ends the build, in each form', async (t) => {
  const forms = [
    `import { nothing } from 'nowhere'\nexport const found = nothing`,
    `import * as nothing from 'nowhere'\nexport const found = nothing`,
    `import 'nowhere'\nexport const found = 1`,
    `export { nothing } from 'nowhere'`,
    `export const found = () => import('nowhere')`,
    `export const found = () => require('nowhere')`,
  ]
  for (const text of forms) {
    const { build } = planted(t, { 'src/main.ts': text })
    await assert.rejects(build(), missing('src/main.ts', 'nowhere', 'main.cjs'))
  }
})

test('built files that import each other in a circle end the build, and one that is imported later does not', async (t) => {
  // In double quotes, because the runner follows the imports of tests.
  const files = {
    'src/main.ts': `import { one } from "./one.ts"\nexport const all = () => [one, import("./later.ts")]`,
    'src/later.ts': `import { all } from "./main.ts"\nexport const later = () => all`,
    'src/one.ts': `import { two } from "./two.ts"\nexport const one = () => two`,
    'src/two.ts': `import { three } from "./three.ts"\nexport const two = () => three`,
    'src/three.ts': `export const three = process.argv`,
  }
  await planted(t, files).build()
  // The first and the third module are one file, and the second one, which lies between them, is another.
  const groups = [
    { name: 'outer', test: /one|three/, includeDependenciesRecursively: false },
    { name: 'inner', test: /two/, includeDependenciesRecursively: false },
  ]
  await assert.rejects(planted(t, files).build(undefined, { groups }), {
    message:
      'Built files import each other in a circle (chunks/outer.cjs → chunks/inner.cjs → chunks/outer.cjs), so one of them would run before what it imports is there: change the groups of the bundle, or import later.',
  })
})
