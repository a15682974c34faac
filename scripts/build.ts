import type { BuildOptions } from 'esbuild'
import { build } from 'esbuild'
import { cpSync, globSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { joinStart } from './start-file.ts'

const root = join(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

const at = process.argv.indexOf('--outdir')
const outdir = resolve(root, at < 0 ? 'dist' : process.argv[at + 1]!)

rmSync(outdir, { recursive: true, force: true })
const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  mainFields: ['module', 'main'],
  // Binaries cannot be bundled: they are installed beside us.
  external: ['@vscode/ripgrep', '@napi-rs/keyring', '@lydell/node-pty'],
  define: { TERMAITE_VERSION: JSON.stringify(version) },
  minify: true,
  keepNames: false,
  logLevel: 'warning',
} satisfies BuildOptions

const { metafile } = await build({
  ...common,
  entryPoints: ['src/main.ts'],
  outdir,
  // Each `import()` becomes a chunk that is read only when it is needed.
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  metafile: true,
})
await joinStart(root, join(outdir, 'main.js'), metafile)

// The hub's page: its own files, for a browser.
const page = join(root, 'src', 'faces', 'web', 'page')
await build({
  ...common,
  platform: 'browser',
  target: 'es2022',
  external: [],
  mainFields: ['browser', 'module', 'main'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  entryPoints: [join(page, 'page.tsx'), join(page, 'style.css')],
  outdir: join(outdir, 'page'),
  splitting: true,
  chunkNames: '[name]-[hash]',
})
for (const name of globSync('*.{html,svg,png,webmanifest}', { cwd: page }))
  cpSync(join(page, name), join(outdir, 'page', name))

// A thread starts from a file of its own, whose imports must not lead to the program's main file.
const thread = 'tools/files/pdf-worker'
await build({ ...common, entryPoints: [`src/${thread}.ts`], outfile: join(outdir, `${thread}.js`) })

// What a model or an interpreter reads is text beside its source, and lies the same way in the bundle: see
// src/base/source-text.ts.
for (const text of globSync('**/*.{md,py,cjs}', { cwd: join(root, 'src') }))
  cpSync(join(root, 'src', text), join(outdir, text))
